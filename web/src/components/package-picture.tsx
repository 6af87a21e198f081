import type { ListedPackage } from '@agentgym/contract'
import { Icon } from './icon.tsx'

/** What stands for a package in a list. */
export function PackagePicture({ kind }: Pick<ListedPackage, 'kind' | 'name'>) {
  return (
    <div class={`package-picture package-picture-${kind}`} aria-hidden="true">
      <Icon name={kind === 'agent' ? 'bot' : 'box'} size={20} />
    </div>
  )
}
