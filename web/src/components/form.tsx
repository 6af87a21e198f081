import type { Child } from 'hono/jsx'
import type { FormFailure } from '../app/form-failure.ts'
import { usePage } from '../layout/page-context.ts'
import { Notice } from './notice.tsx'

type FormProps = {
  /** A route of this site that is a `post`. */
  action: string
  children?: Child
  failure?: FormFailure | null
  /** Fields that the form shows; a failure's message about any other stands above the form. */
  fields?: string[]
  /** `inline` is a row without a frame: one button, one choice. */
  look?: 'stack' | 'inline'
  label?: string
}

/** A form that changes something, signed for this browser and session. Searches are plain `<form method="get">`. */
export function Form({ action, children, failure = null, fields = [], look = 'stack', label }: FormProps) {
  const { formToken } = usePage()
  const others = Object.entries(failure?.fields ?? {}).filter(([field]) => !fields.includes(field))
  return (
    <form class={`form form-${look}`} method="post" action={action} aria-label={label}>
      <input type="hidden" name="form_token" value={formToken()} />
      {failure?.message && (
        <Notice kind="failure">
          {failure.message} {failure.hint}
        </Notice>
      )}
      {others.map(([field, message]) => (
        <Notice kind="failure">
          <code>{field}</code> {message}
        </Notice>
      ))}
      {children}
    </form>
  )
}
