import { randomUUID } from 'node:crypto'
import type { FormFailure } from '../../app/form.ts'
import type { Visit } from '../../app/visit.ts'

const field = 'idempotency_key'

/** Makes a form that moves money safe to submit twice, or again after a lost response: the second time changes nothing. */
export function IdempotencyKey({ idempotencyKey }: { idempotencyKey?: string }) {
  return <input type="hidden" name={field} value={idempotencyKey ?? randomUUID()} />
}

/**
 * The key of a form that is shown again: its own after a server error, where the request may have succeeded, and a new one
 * after a refusal.
 */
export function repeatedKey({ form }: Visit, failure: FormFailure | null): string | undefined {
  return failure !== null && failure.status >= 500 ? form.get(field) : undefined
}

/** The header for the API. */
export function idempotencyHeader({ form }: Visit): { 'idempotency-key': string } {
  return { 'idempotency-key': form.get(field) }
}
