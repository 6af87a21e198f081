import { useIsland } from '../layout/page-context.ts'
import { Icon } from './icon.tsx'

/** A command to run as it stands, with a button that copies it. Without JavaScript it is text to select. */
export function Command({ text, label = 'Copy the command' }: { text: string; label?: string }) {
  useIsland('copy')
  return (
    <div class="command" data-copy={text}>
      <pre tabindex={0}>
        <code>{text}</code>
      </pre>
      <button class="command-copy" type="button" hidden aria-label={label} title={label}>
        <span class="command-idle">
          <Icon name="copy" />
        </span>
        <span class="command-done">
          <Icon name="check" />
        </span>
      </button>
    </div>
  )
}
