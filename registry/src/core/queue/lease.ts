import { createHmac, timingSafeEqual } from 'node:crypto'
import { AgentGymError, type JobKind, jobKindSchema } from '@agentgym/contract'
import type { Attempt } from './job-handler.ts'

/**
 * The lease of an attempt: what it says, and a MAC over that under the installation's secret. Nothing is stored, and nobody
 * makes one up. Whether the attempt is still the one under way only the queue knows.
 */
export function leaseOf(secret: Uint8Array, attempt: Attempt): string {
  const { kind, id, attempt: count, workerId } = attempt
  const said = `${kind}.${count}.${workerId ?? ''}`
  const mac = createHmac('sha256', secret).update(`job-lease:${id}:${said}`).digest('base64url')
  return `${said}.${mac}`
}

/** The attempt that a lease is for. Throws `lease_lost` for one that was never given. */
export function readLease(secret: Uint8Array, id: string, lease: string): Attempt {
  const match = /^([a-z]+)\.(\d{1,9})\.([0-9a-f-]{36})?\.[\w-]+$/.exec(lease)
  const kind = jobKindSchema.safeParse(match?.[1])
  if (match === null || !kind.success) throw leaseLost()
  const attempt = { kind: kind.data satisfies JobKind, id, attempt: Number(match[2]), workerId: match[3] ?? null }
  const expected = Buffer.from(leaseOf(secret, attempt))
  const given = Buffer.from(lease)
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw leaseLost()
  return attempt
}

export function leaseLost(): AgentGymError {
  return new AgentGymError({
    code: 'lease_lost',
    message: 'The lease is over: the job has gone to another worker, or has a result.',
    hint: 'Drop the job and lease another one.',
  })
}
