import { randomUUID } from 'node:crypto'
import type { Visit } from '../../app/visit.ts'

/**
 * What moves money is done once for each form that was shown: sent twice, or again after an answer that got lost, it comes
 * to what it came to the first time.
 */
export function OnceKey() {
  return <input type="hidden" name="once" value={randomUUID()} />
}

/** The header that says so to the API. */
export function onceHeader({ form }: Visit): { 'idempotency-key': string } {
  return { 'idempotency-key': form.get('once') }
}
