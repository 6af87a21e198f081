import type { Child } from 'hono/jsx'

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
