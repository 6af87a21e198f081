import type { Child } from 'hono/jsx'
import type { FormFailure } from '../app/form.ts'
import { withHint } from '../format.ts'
import { usePage } from '../layout/page-context.ts'
import { Notice } from './messages.tsx'

type FormProps = {
  /** A route of this site that is a `post`. */
  action: string
  children?: Child
  failure?: FormFailure | null
  /** Fields that the form shows; errors of all others appear above it. */
  fields?: string[]
  /** `inline` is a single row: one button, one choice. */
  look?: 'stack' | 'inline'
  label?: string
}

/** A form that changes something, with a token for this browser and session. Searches are plain `<form method="get">`. */
export function Form({ action, children, failure = null, fields = [], look = 'stack', label }: FormProps) {
  const { formToken } = usePage()
  const others = Object.entries(failure?.fields ?? {}).filter(([field]) => !fields.includes(field))
  return (
    <form class={`form form-${look}`} method="post" action={action} aria-label={label}>
      <input type="hidden" name="form_token" value={formToken()} />
      {failure?.message && <Notice kind="failure">{withHint(failure)}</Notice>}
      {others.map(([field, message]) => (
        <Notice kind="failure">
          <code>{field}</code> {message}
        </Notice>
      ))}
      {children}
    </form>
  )
}

type FieldProps = {
  label: string
  /** The API's name of the field, so that its errors appear here. */
  name: string
  type?: 'text' | 'email' | 'password' | 'number' | 'search' | 'url'
  /** What was entered; never a password. */
  value?: string
  /** Explains what the label doesn't. */
  help?: Child
  failure?: FormFailure | null
  required?: boolean
  autocomplete?: string
  autofocus?: boolean
  minlength?: number
  maxlength?: number
  min?: string
  max?: string
  step?: string
  /** Makes it a select. */
  options?: { value: string; label: string }[]
  /** Makes it a text area. */
  rows?: number
}

/** A labeled field: the label above, help and errors below. */
export function Field({ label, name, help, failure, options, rows, ...rest }: FieldProps) {
  const wrong = failure?.fields[name]
  const id = `field-${name.replace(/\W/g, '-')}`
  const described = [help !== undefined && `${id}-help`, wrong !== undefined && `${id}-wrong`].filter(Boolean).join(' ')
  const shared = {
    id,
    name,
    required: rest.required,
    autofocus: rest.autofocus,
    'aria-invalid': wrong === undefined ? undefined : ('true' as const),
    'aria-describedby': described === '' ? undefined : described,
  }
  return (
    <div class={wrong === undefined ? 'field' : 'field field-wrong'}>
      <label for={id}>
        {label}
        {rest.required !== true && <span class="field-optional"> optional</span>}
      </label>
      {options !== undefined ? (
        <Choice {...shared} options={options} value={rest.value} />
      ) : rows !== undefined ? (
        <textarea {...shared} rows={rows} maxlength={rest.maxlength}>
          {rest.value}
        </textarea>
      ) : (
        <input
          {...shared}
          type={rest.type ?? 'text'}
          value={rest.type === 'password' ? undefined : rest.value}
          autocomplete={rest.autocomplete}
          autocapitalize="none"
          spellcheck={false}
          minlength={rest.minlength}
          maxlength={rest.maxlength}
          min={rest.min}
          max={rest.max}
          step={rest.step}
        />
      )}
      {help !== undefined && (
        <p class="field-help" id={`${id}-help`}>
          {help}
        </p>
      )}
      {wrong !== undefined && (
        <p class="field-message" id={`${id}-wrong`}>
          {wrong}
        </p>
      )}
    </div>
  )
}

type ChoiceProps = {
  id: string
  name: string
  value?: string
  required?: boolean
  options: { value: string; label: string }[]
}

/** Never `required` with an empty option: browsers treat that option as nothing selected and block the form. */
function Choice({ options, value, required, ...attributes }: ChoiceProps) {
  const mayBeEmpty = options.some((option) => option.value === '')
  return (
    <select {...attributes} required={required && !mayBeEmpty}>
      {options.map((option) => (
        <option value={option.value} selected={option.value === value}>
          {option.label}
        </option>
      ))}
    </select>
  )
}
