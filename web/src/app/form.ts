import { AgentGymError, decimalAmount, errorCatalog, parseAmount } from '@agentgym/contract'
import { withHint } from '../format.ts'

/** Values of a form as text. Missing fields are empty. */
export type FormValues = {
  get(name: string): string
  /** Values of checkboxes and lists that share a name. */
  all(name: string): string[]
}

export const noForm: FormValues = { get: () => '', all: () => [] }

const mostFields = 200

/** Parses a form of this site. Throws `request_invalid` for other bodies. */
export async function readForm(request: Request): Promise<FormValues> {
  const type = request.headers.get('content-type')?.split(';')[0].trim().toLowerCase()
  const text = await request.text()
  if (type !== 'application/x-www-form-urlencoded' && text !== '') throw notAForm()
  const fields = new URLSearchParams(text)
  if (fields.size > mostFields) throw notAForm()
  return {
    // Browsers send line breaks of a text area as CR LF.
    get: (name) => (fields.get(name) ?? '').replaceAll('\r\n', '\n'),
    all: (name) => fields.getAll(name),
  }
}

function notAForm(): AgentGymError {
  return new AgentGymError({
    code: 'request_invalid',
    message: 'The request is not a form of this site.',
    hint: 'Programs use the JSON API under /v1.',
  })
}

/** The refusal of a form, as shown in it. */
export type FormFailure = {
  /** HTTP status of the page that shows it. */
  status: number
  /** Message by the API's name of the field. */
  fields: Record<string, string>
  /** Messages about no single field. */
  message: string | null
  hint: string | null
}

/** The field of errors with these codes, unless the form overrides it. */
const usualFields: Partial<Record<string, string>> = {
  name_invalid: 'username',
  name_taken: 'username',
  email_taken: 'email',
}

/** Failures of external servers: nothing is lost, and the form can be submitted again unchanged. */
const unanswered = 'payment_provider_unavailable'
/** Temporary failures, shown in the form, which keeps its values. */
const passing = new Set<string>([
  ...[unanswered, 'agent_unavailable', 'agent_failed'],
  ...['database_unavailable', 'storage_unavailable', 'request_timeout'],
])

/** Handled by other pages: login, and the second factor. */
const elsewhere = new Set<string>(['unauthenticated', 'second_factor_required'])

/**
 * Runs the action of a form. Returns null, or the API's refusal; `fieldOf` maps error codes to fields. Rethrows bugs,
 * ended sessions and required second factors.
 */
export async function attempt(
  work: () => Promise<unknown>,
  fieldOf: Partial<Record<string, string>> = usualFields,
): Promise<FormFailure | null> {
  try {
    await work()
    return null
  } catch (error) {
    if (!(error instanceof AgentGymError) || elsewhere.has(error.code)) throw error
    const { status } = errorCatalog[error.code]
    if (status >= 500 && !passing.has(error.code)) throw error
    return { status, ...describeFailure(error, fieldOf) }
  }
}

function describeFailure(
  error: AgentGymError,
  fieldOf: Partial<Record<string, string>>,
): Pick<FormFailure, 'fields' | 'message' | 'hint'> {
  const hint =
    error.code === unanswered ? 'Submit the form again in a moment. You won’t be charged twice.' : (error.hint ?? null)
  const listed = error.code === 'request_invalid' ? { ...fieldsIn(error.data.fields), ...fieldOfRule(error) } : {}
  if (Object.keys(listed).length > 0) return { fields: listed, message: null, hint: null }
  const field = fieldOf[error.code]
  if (field === undefined) return { fields: {}, message: error.message, hint }
  return { fields: { [field]: withHint({ message: error.message, hint }) }, message: null, hint: null }
}

/** Strips the name of the field from an API message, because it is shown below the field. */
function fieldOfRule({ message, data: { field } }: AgentGymError): Record<string, string> {
  if (typeof field !== 'string' || field === '') return {}
  return { [field]: sentence(message.replace(/^The field "[^"]*" of the \w+ is invalid: /, '')) }
}

function fieldsIn(fields: unknown): Record<string, string> {
  if (!Array.isArray(fields)) return {}
  const pairs = (fields as { field?: unknown; message?: unknown }[])
    .filter(({ field, message }) => typeof field === 'string' && field !== '' && typeof message === 'string')
    .map(({ field, message }): [string, string] => [String(field), sentence(String(message))])
  return Object.fromEntries(pairs)
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`
}

/** Parses an amount in a form field into minor units. Throws `request_invalid`, naming the field. */
export function formAmount(form: FormValues, field: string, currency: string): number {
  const text = form.get(field).trim()
  const parsed = parseAmount(text, currency)
  if ('minor' in parsed) return parsed.minor
  throw invalidField(
    field,
    text === '' ? 'enter an amount' : `${text} ${parsed.problem}; enter an amount such as 12.50`,
  )
}

/** The same for an optional field. */
export function optionalFormAmount(form: FormValues, field: string, currency: string): number | undefined {
  return form.get(field).trim() === '' ? undefined : formAmount(form, field, currency)
}

/** The same, where zero or an empty field means 0. */
export function formAmountOrZero(form: FormValues, field: string, currency: string): number {
  return /^0*(\.0*)?$/.test(form.get(field).trim()) ? 0 : formAmount(form, field, currency)
}

/** An amount in input format: `1250.00`. */
export function typedAmount(minor: number, currency: string): string {
  return decimalAmount(minor, currency)
}

export function invalidField(field: string, message: string): AgentGymError {
  return new AgentGymError({
    code: 'request_invalid',
    message: 'The form has an invalid field.',
    data: { fields: [{ field, message }] },
  })
}
