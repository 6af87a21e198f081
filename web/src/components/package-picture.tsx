import type { ListedPackage } from '@agentgym/contract'
import { Drawn } from '../pictures/drawn.tsx'
import { emblem } from '../pictures/emblem.ts'
import { pictureAddress } from './package-address.ts'

/** What stands for a package in a list: a picture of its latest version, beside its name. */
export function PackagePicture({ name, version }: { name: ListedPackage['name']; version: string | null }) {
  return (
    <div class="package-picture" aria-hidden="true">
      {version === null ? (
        <Drawn picture={emblem(name)} />
      ) : (
        <img src={pictureAddress(name, version)} alt="" width="320" height="240" loading="lazy" decoding="async" />
      )}
    </div>
  )
}
