import { formatAmount } from '@agentgym/contract'
import { Hono } from 'hono'
import { html } from 'hono/html'
import type { Env } from '../../core/http/env.ts'
import type { Html } from '../../core/http/pages/page.ts'
import { declare } from '../../core/http/route.ts'
import { framed } from '../accounts/index.ts'
import type { PaymentNews, PaymentServices } from './payment-provider.ts'
import { findPayment, type PaymentView } from './payments.store.ts'
import { paymentNotFound } from './start-payment.ts'
import { isTestCheckout } from './test-provider.ts'
import { takeEvent } from './webhooks.routes.ts'

const path = '/test-checkout'
const rules = declare({ access: 'anyone', csrf: 'form' })

/**
 * The checkout page of the test provider: shows the amount, with a button per outcome. As with real providers, its URL
 * is the credential; the form includes it.
 */
export function testCheckoutRoutes(services: PaymentServices): Hono<Env> {
  const routes = new Hono<Env>()

  routes.get(path, rules, async (c) => {
    const { payment, proof } = await readCheckout(services, c.req.query('payment'), c.req.query('proof'))
    return c.html(checkoutPage(payment, proof))
  })

  routes.post(path, rules, async (c) => {
    const fields = await c.req.parseBody()
    const { payment, proof } = await readCheckout(services, String(fields.payment), String(fields.proof))
    const news = newsOf(payment, String(fields.outcome))
    if (news !== null)
      await takeEvent(services, 'test', {
        id: `test_${news.kind}_${payment.id}`,
        type: `test.${news.kind}`,
        about: { paymentId: payment.id, news },
        data: {},
      })
    const now = await readCheckout(services, payment.id, proof)
    return c.html(checkoutPage(now.payment, proof))
  })

  return routes
}

async function readCheckout(
  services: PaymentServices,
  id: string | undefined,
  proof = '',
): Promise<{ payment: PaymentView; proof: string }> {
  const given = String(id).slice(0, 100)
  if (!isTestCheckout(services.config, given, proof)) throw paymentNotFound(given)
  const payment = await findPayment(services.database.query, given)
  if (payment?.provider !== 'test') throw paymentNotFound(given)
  return { payment, proof }
}

function newsOf({ amount_minor: amountMinor, currency }: PaymentView, outcome: string): PaymentNews | null {
  if (outcome === 'pay') return { kind: 'succeeded', amountMinor, currency }
  if (outcome === 'decline') return { kind: 'failed', message: 'The card was declined.' }
  return outcome === 'expire' ? { kind: 'expired' } : null
}

function checkoutPage(payment: PaymentView, proof: string): Html {
  const amount = formatAmount(payment.amount_minor, payment.currency)
  if (payment.state !== 'pending')
    return framed(`The payment ${ends[payment.state]}`, html`<p class="lead">${amount} for ${payment.account}.</p>`)
  return framed(
    `Pay ${amount}`,
    html`
<p class="lead">For ${payment.account}. This server uses test money; nothing is charged.</p>
<form method="post" action="${path}">
<input type="hidden" name="payment" value="${payment.id}">
<input type="hidden" name="proof" value="${proof}">
<button name="outcome" value="pay">Pay</button>
<button name="outcome" value="decline">Decline</button>
<button name="outcome" value="expire">Let it expire</button>
</form>`,
  )
}

const ends = { succeeded: 'was made', failed: 'was declined', expired: 'has expired', disputed: 'was disputed' }
