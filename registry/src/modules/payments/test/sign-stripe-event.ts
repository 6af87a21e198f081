import { createHmac } from 'node:crypto'

/** The header `stripe-signature`, as docs.stripe.com/webhooks describes it: HMAC-SHA256 over `timestamp.body`. */
export function signStripeEvent(body: string, secret: string, at: Date): string {
  const timestamp = Math.floor(at.getTime() / 1_000)
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  return `t=${timestamp},v1=${signature},v0=${'0'.repeat(64)}`
}
