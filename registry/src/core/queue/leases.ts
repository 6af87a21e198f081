import { createHmac, timingSafeEqual } from 'node:crypto'
import { AgentGymError, jobKindSchema } from '@agentgym/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Attempt } from './job-handler.ts'

/*
 * Shared by jobs and hosted calls: rows with a `state` of `waiting` or `leased`, `leased_until`, and `attempts`, the
 * number of counted leases. Workers select them with `for update skip locked`.
 */

/** Rows that can be leased: waiting, or with an expired lease, and with fewer than `attempts` counted leases. */
export function leasable(attempts: number | RawBuilder<number>): RawBuilder<boolean> {
  return sql`((state = 'waiting' or (state = 'leased' and leased_until < now())) and attempts < ${attempts})`
}

/** Leases a row for that many milliseconds. */
export function setLeased(ms: number): RawBuilder<unknown> {
  return sql`state = 'leased', attempts = attempts + 1, leased_until = now() + ${ms} * interval '1 millisecond'`
}

/** Sets a leased row as waiting again, as if it had not been leased. */
export const setReleased = sql`state = 'waiting', attempts = attempts - 1, leased_until = null`

/**
 * The lease of an attempt: its description with a MAC under the installation's secret. Leases are not stored and cannot
 * be forged. Only the queue knows whether the attempt still has its job.
 */
export function leaseOf(secret: Uint8Array, attempt: Attempt): string {
  const { kind, id, attempt: count, workerId } = attempt
  const description = `${kind}.${count}.${workerId ?? ''}`
  const mac = createHmac('sha256', secret).update(`job-lease:${id}:${description}`).digest('base64url')
  return `${description}.${mac}`
}

/** The attempt of a lease. Throws `lease_lost` for a forged lease. */
export function readLease(secret: Uint8Array, id: string, lease: string): Attempt {
  const match = /^([a-z]+)\.(\d{1,9})\.([0-9a-f-]{36})?\.[\w-]+$/.exec(lease)
  const kind = jobKindSchema.safeParse(match?.[1])
  if (match === null || !kind.success) throw leaseLost()
  const attempt: Attempt = { kind: kind.data, id, attempt: Number(match[2]), workerId: match[3] ?? null }
  const expected = Buffer.from(leaseOf(secret, attempt))
  const given = Buffer.from(lease)
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw leaseLost()
  return attempt
}

export function leaseLost(): AgentGymError {
  return new AgentGymError({
    code: 'lease_lost',
    message: 'The lease has ended: the job was leased to another worker, or has a result.',
    hint: 'Drop the job and lease another.',
  })
}
