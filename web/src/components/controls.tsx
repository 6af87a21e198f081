import type { Child } from 'hono/jsx'
import { useIsland } from '../layout/page-context.ts'
import { Icon } from './icon.tsx'

type ButtonProps = {
  children?: Child
  /** `primary` is the one thing to do here; `quiet` everything else; `danger` what cannot be taken back. */
  look?: 'primary' | 'quiet' | 'danger'
  size?: 'usual' | 'small'
  /** Makes it a link. */
  href?: string
  name?: string
  value?: string
  disabled?: boolean
}

/** Sends its form, or leads somewhere. */
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

/** Parts of one thing, each its own page. `current` is the one that is open. */
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
