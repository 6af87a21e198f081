import { randomUUID } from 'node:crypto'
import type { FormFailure } from '../../app/form.ts'
import type { Visit } from '../../app/visit.ts'

/**
 * What moves money is done once for each form that was shown: sent twice, or again after an answer that got lost, it comes
 * to what it came to the first time.
 */
export function OnceKey({ once }: { once?: string }) {
  return <input type="hidden" name="once" value={once ?? randomUUID()} />
}

/**
 * The key of a form that is shown again. What was refused may be asked for otherwise, under another key; of what failed on the
 * way nobody knows yet, so it is asked for under its own.
 */
export function onceAgain({ form }: Visit, failure: FormFailure | null): string | undefined {
  return failure !== null && failure.status >= 500 ? form.get('once') : undefined
}

/** The header that says so to the API. */
export function onceHeader({ form }: Visit): { 'idempotency-key': string } {
  return { 'idempotency-key': form.get('once') }
}
