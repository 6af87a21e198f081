import type { Child } from 'hono/jsx'
import { useIsland } from '../layout/page-context.ts'
import { Icon } from './icon.tsx'

type ButtonProps = {
  children?: Child
  /** `primary` for the page's main action, `danger` for irreversible actions. */
  look?: 'primary' | 'quiet' | 'danger'
  size?: 'usual' | 'small'
  /** Makes it a link. */
  href?: string
  name?: string
  value?: string
  disabled?: boolean
}

/** Submits its form, or links with `href`. */
export function Button({ children, look = 'quiet', size = 'usual', href, name, value, disabled }: ButtonProps) {
  const names = `button button-${look}${size === 'small' ? ' button-small' : ''}`
  if (href !== undefined)
    return (
      <a class={names} href={href}>
        {children}
      </a>
    )
  return (
    <button class={names} type="submit" name={name} value={value} disabled={disabled}>
      {children}
    </button>
  )
}

/** Tabs between related pages; `current` is the open one. */
export function Tabs({
  tabs,
  current,
  label,
}: {
  tabs: { href: string; title: string; count?: number }[]
  current: string
  label: string
}) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ href, title, count }) => (
        <a href={href} aria-current={href === current ? 'page' : undefined}>
          {title}
          {count !== undefined && <span class="tabs-count">{count}</span>}
        </a>
      ))}
    </nav>
  )
}

/** Installs the command from the server that offers its package at `commandUrl`. */
export function installCommand(commandUrl: string): string {
  return `npm install -g --ignore-scripts ${commandUrl}`
}

/** A command with a copy button; without JavaScript, selectable text. */
export function Command({ text, label = 'Copy command' }: { text: string; label?: string }) {
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
