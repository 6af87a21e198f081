import type { FormFailure } from './form-failure.ts'

/** What is wrong with one field, found before the API was asked. */
export function fieldFailure(field: string, message: string): FormFailure {
  return { status: 422, fields: { [field]: message }, message: null, hint: null }
}
