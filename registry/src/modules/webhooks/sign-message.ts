import { createHmac, randomBytes } from 'node:crypto'

const prefix = 'whsec_'
const secretBytes = 32

/** A signing secret in the form of the Standard Webhooks specification. */
export function makeWebhookSecret(): string {
  return prefix + randomBytes(secretBytes).toString('base64')
}

type Message = { id: string; timestampSeconds: number; body: string }

/**
 * Headers of a signed message by the Standard Webhooks specification: HMAC-SHA256 over `id.timestamp.body`, one signature
 * for each secret that is valid. The receiver compares the timestamp with its clock, so that a message can't be replayed
 * later, and remembers the id, because messages are delivered at least once.
 */
export function signedHeaders(
  { id, timestampSeconds, body }: Message,
  secrets: readonly string[],
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`).digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures.join(' '),
  }
}
