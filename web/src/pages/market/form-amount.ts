import { AgentGymError, decimalAmount, parseAmount } from '@agentgym/contract'
import type { FormValues } from '../../app/form-values.ts'

/** Minor units of what a form's field says in units of the currency. Throws `request_invalid`, naming the field. */
export function formAmount(form: FormValues, field: string, currency: string): number {
  const text = form.get(field).trim()
  const parsed = parseAmount(text, currency)
  if ('minor' in parsed) return parsed.minor
  throw invalidField(field, text === '' ? 'say how much' : `${text} ${parsed.problem}; write it as 12.50`)
}

/** Likewise, where nothing need be said. */
export function optionalFormAmount(form: FormValues, field: string, currency: string): number | undefined {
  return form.get(field).trim() === '' ? undefined : formAmount(form, field, currency)
}

/** Likewise, where nothing at all is an amount, too. */
export function formAmountOrZero(form: FormValues, field: string, currency: string): number {
  return /^0*(\.0*)?$/.test(form.get(field).trim()) ? 0 : formAmount(form, field, currency)
}

/** An amount as it is typed: `1250.00`. */
export function typedAmount(minor: number, currency: string): string {
  return decimalAmount(minor, currency)
}

export function invalidField(field: string, message: string): AgentGymError {
  return new AgentGymError({
    code: 'request_invalid',
    message: 'The form has a field that cannot be read.',
    data: { fields: [{ field, message }] },
  })
}
