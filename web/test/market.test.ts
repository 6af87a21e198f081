import { openTestSite, type TestBrowser, type TestPage, type TestSite } from '@agentgym/testkit/site'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPublisher, type PublishSampled } from './publish-sampled.ts'

let site: TestSite
let seller: TestBrowser
let buyer: TestBrowser
let stranger: TestBrowser
let publish: PublishSampled

beforeAll(async () => {
  site = await openTestSite({
    environment: { AGENTGYM_PAYOUT_HOLD_DAYS: '0', AGENTGYM_TRAINING_FREE_MINOR_PER_MONTH: '250' },
  })
  const publisher = await openPublisher(site)
  seller = publisher.owner
  publish = publisher.publish
  buyer = await site.browserOf('buyer')
  stranger = await site.browserOf('stranger')
  await buyer.submit('/balance', '/balance/top-ups', { amount_minor: '500' })
})
afterAll(() => site.close())

const leadsTo = ({ headers }: TestPage) => headers.get('location') ?? ''
let made = 0
/** Publishes something, sells it to the buyer for 20.00, and gives the address of the receipt. */
async function sell(): Promise<{ base: string; receipt: string }> {
  made += 1
  const base = `ware-${made}`
  await publish(base, null)
  const price = `/packages/@acme/${base}/price`
  expect((await seller.submit(price, price, { kind: 'one_time', amount_minor: '20' })).status).toBe(303)
  const page = `/buy/@acme/${base}`
  return { base, receipt: leadsTo(await buyer.submit(page, page, { pay_with: 'balance' })) }
}

describe('receipts and refunds', () => {
  it('are visible to buyer and seller only', async () => {
    const { receipt } = await sell()
    for (const side of [buyer, seller]) expect((await side.get(receipt)).status).toBe(200)
    for (const path of [receipt, `${receipt}/refund`]) expect((await stranger.get(path)).status).toBe(404)
    expect((await stranger.get('/orders/not-an-order')).status).toBe(404)
    const form_token = await stranger.formToken('/orders')
    for (const what of ['refund', 'cancel']) {
      const { status } = await stranger.post(`${receipt}/${what}`, {
        form_token,
        idempotency_key: 'a',
        reason: 'mine now',
      })
      expect(status).toBe(404)
    }
    expect((await buyer.get(receipt)).text).not.toContain('refunded')
  })

  it('a buyer returns an unused license in full, once', async () => {
    const { base, receipt } = await sell()
    expect((await buyer.get(receipt)).text).toContain('Return order')
    const form = await buyer.get(`${receipt}/refund`)
    expect(form.text).not.toContain('name="amount_minor"')
    const given = await buyer.submit(`${receipt}/refund`, `${receipt}/refund`, { reason: 'Not <b>for</b> me' })
    expect([given.status, leadsTo(given)]).toEqual([303, receipt])
    const { text } = await buyer.get(receipt)
    expect(text).toContain('Not &lt;b&gt;for&lt;/b&gt; me')
    expect(text).toMatch(/-\$20\.00/)
    expect(text).not.toContain('Return order')
    expect((await buyer.get(`/buy/@acme/${base}`)).text).toContain('Buy for $20.00')
    expect((await buyer.get(`${receipt}/refund`)).text).not.toContain('<textarea')
  })

  it('a seller refunds a part; errors appear at their fields, and values are kept', async () => {
    const { receipt } = await sell()
    const refund = `${receipt}/refund`
    const wrong = await seller.submit(refund, refund, { amount_minor: '1,50', reason: 'Sorry about that' })
    expect(wrong.status).toBe(422)
    expect(wrong.text).toMatch(/id="field-amount_minor-wrong"[^>]*>1,50 is not an amount/)
    expect(wrong.text).toContain('value="Sorry about that"')
    const without = await seller.submit(refund, refund, { amount_minor: '5', reason: ' ' })
    expect([without.status, without.text.includes('id="field-reason-wrong"')]).toEqual([422, true])
    const tooMuch = await seller.submit(refund, refund, { amount_minor: '20.01', reason: 'All and more' })
    expect(tooMuch.status).toBe(409)
    expect((await seller.submit(refund, refund, { amount_minor: '5', reason: 'A part' })).status).toBe(303)
    const { text } = await buyer.get(receipt)
    expect(text).toContain('paid, partially refunded')
    expect(text).toMatch(/Remaining<\/dt><dd><span class="price">\$15\.00/)
  })

  it('submitting a refund twice refunds once', async () => {
    const { receipt } = await sell()
    const { text } = await seller.get(`${receipt}/refund`)
    const once = /name="idempotency_key" value="([^"]+)"/.exec(text)?.[1] ?? ''
    const form_token = await seller.formToken(`${receipt}/refund`)
    const fields = { form_token, idempotency_key: once, amount_minor: '5', reason: 'A part' }
    for (const _ of [1, 2]) expect((await seller.post(`${receipt}/refund`, fields)).status).toBe(303)
    expect((await buyer.get(receipt)).text.match(/Refund by acme/g)).toHaveLength(1)
  })
})

describe('balance', () => {
  it('a top-up is credited, and has a page', async () => {
    const rich = await site.browserOf('rich')
    const paid = await rich.submit('/balance', '/balance/top-ups', { amount_minor: '12.5' })
    expect(leadsTo(paid)).toMatch(/^\/payments\/[0-9a-f-]{36}$/)
    expect((await rich.get(leadsTo(paid))).text).toContain('Top-up of $12.50')
    const { text } = await rich.get('/balance')
    expect(text).toContain('$12.50')
    expect(text).toMatch(/Free training left[\s\S]{0,200}\$2\.50[\s\S]{0,100}of \$2\.50 a month/)
    expect((await stranger.get(leadsTo(paid))).status).toBe(404)
  })

  it.each(['', '0', '-5', '1e3', '1.005', '9'.repeat(20), '<b>'])(
    '%j is not an amount, and is kept for correction',
    async (amount) => {
      const page = await stranger.submit('/balance', '/balance/top-ups', { amount_minor: amount })
      expect(page.status).toBe(422)
      expect(page.text).toContain('id="field-amount_minor-wrong"')
      expect(page.text).not.toContain('<b>')
    },
  )

  it('continues only on this site', async () => {
    for (const next of ['https://evil.example/', '//evil.example', '/\\evil.example']) {
      const link = `/balance?next=${encodeURIComponent(next)}`
      const paid = await stranger.submit(link, '/balance/top-ups', { amount_minor: '1' })
      expect(leadsTo(paid)).toMatch(/^\/payments\/[0-9a-f-]+$/)
      const { text } = await stranger.get(`${leadsTo(paid)}?next=${encodeURIComponent(next)}`)
      expect(text).not.toContain('Continue checkout')
    }
  })

  it('a pending payment links to the provider, because forms may not', async () => {
    const response = await fetch(`${site.url}/v1/top-ups`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'idempotency-key': 'pending',
        cookie: [...buyer.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
      body: JSON.stringify({ amount_minor: 1_234, test_outcome: 'pending' }),
    })
    const { id, checkout_url: checkout } = (await response.json()) as { id: string; checkout_url: string }
    const { text } = await buyer.get(`/payments/${id}`)
    expect(text).toContain(`href="${checkout.replaceAll('&', '&amp;')}"`)
    expect((await buyer.get('/balance')).text).toContain('not confirmed by the provider')
  })
})

describe('earnings', () => {
  it('show sales, and pay out once there is a destination', async () => {
    await sell()
    const before = await seller.get('/earnings')
    for (const said of ['Sales in the last 30 days', '-$2.00', 'Set up payouts', '/v1/earnings.csv'])
      expect(before.text).toContain(said)
    const set = await seller.submit('/earnings', '/earnings/destination', {})
    expect(leadsTo(set)).toBe('/earnings')
    const tooMuch = await seller.submit('/earnings', '/earnings/payouts', { amount_minor: '100000' })
    expect(tooMuch.status).toBe(409)
    expect(tooMuch.text).toContain('value="100000"')
    expect(leadsTo(await seller.submit('/earnings', '/earnings/payouts', { amount_minor: '5' }))).toBe('/earnings')
    // The test provider's bank rejects amounts that end in 13.
    await seller.submit('/earnings', '/earnings/payouts', { amount_minor: '5.13' })
    const { text } = await seller.get('/earnings')
    expect(text).toContain('The bank account does not exist.')
    expect(text).toContain('payout returned')
    const csv = await seller.api('GET', '/v1/earnings.csv')
    expect([csv.status, csv.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/csv')])
  })

  it('of others are not visible', async () => {
    expect((await stranger.get('/earnings?account=acme')).status).toBe(403)
    expect((await stranger.get('/sales?account=acme')).status).toBe(403)
    expect((await stranger.get('/balance?account=acme')).status).toBe(403)
    const form_token = await stranger.formToken('/earnings')
    for (const form of ['payouts', 'destination'])
      expect(
        (await stranger.post(`/earnings/${form}`, { form_token, idempotency_key: 'a', account: 'acme' })).status,
      ).toBe(403)
  })
})

describe('the price of a package', () => {
  it('can be set by the owner; a raise is announced if the package is used', async () => {
    const { base } = await sell()
    const path = `/packages/@acme/${base}/price`
    expect((await stranger.get(path)).status).toBe(404)
    const raised = await seller.submit(path, path, {
      kind: 'one_time',
      amount_minor: '30',
      royalty_basis_points: '2.5',
    })
    expect(leadsTo(raised)).toBe(path)
    const { text } = await seller.get(path)
    expect(text).toMatch(/From <time[^>]*>[^<]+<\/time> the price is <span class="price">\$30\.00/)
    expect(text).toMatch(/name="royalty_basis_points"[^>]*value="2\.5"/)
    expect((await buyer.get(`/buy/@acme/${base}`)).text).toContain('You already own')
    expect((await stranger.get(`/buy/@acme/${base}`)).text).toMatch(/Buy for \$20\.00/)
  })

  it.each([
    [{ kind: 'one_time', amount_minor: '' }, 'amount_minor', 'Enter an amount'],
    [{ kind: 'free', amount_minor: '5' }, 'amount_minor', 'A free package has no price'],
    [{ kind: 'barter', amount_minor: '5' }, 'kind', 'Choose one'],
    [{ kind: 'one_time', amount_minor: '5', royalty_basis_points: '99' }, 'royalty_basis_points', 'at most 2000'],
    [
      { kind: 'one_time', amount_minor: '5', royalty_basis_points: 'ten' },
      'royalty_basis_points',
      'Enter a percentage',
    ],
  ])('shows the error of %j next to its field', async (fields, field, message) => {
    const { base } = await sell()
    const path = `/packages/@acme/${base}/price`
    const page = await seller.submit(path, path, { terms: 'Kept <i>as typed</i>', ...fields })
    expect(page.status).toBe(422)
    expect(page.text).toMatch(new RegExp(`id="field-${field}-wrong"[^>]*>[^<]*${message}`))
    expect(page.text).toContain('Kept &lt;i&gt;as typed&lt;/i&gt;')
  })
})

describe('spend limits', () => {
  it('are set, applied and removed', async () => {
    const { base } = await sell()
    const careful = await site.browserOf('careful')
    await careful.submit('/balance', '/balance/top-ups', { amount_minor: '100' })
    const path = '/settings/spending'
    const set = await careful.submit(path, path, { period: 'month', amount_minor: '10' })
    expect(leadsTo(set)).toBe(path)
    const buy = `/buy/@acme/${base}`
    const refused = await careful.submit(buy, buy, { pay_with: 'balance' })
    expect(refused.status).toBe(402)
    expect(refused.text).toContain('$10.00 is left')
    const { text } = await careful.get(path)
    const remove = /action="(\/settings\/spending\/[^"]+\/remove)"/.exec(text)?.[1] ?? ''
    const form_token = await stranger.formToken(path)
    expect((await stranger.post(remove, { form_token })).status).toBe(404)
    expect((await careful.get(path)).text).toContain(remove)
    expect(leadsTo(await careful.submit(path, remove, {}))).toBe(path)
    expect((await careful.submit(buy, buy, { pay_with: 'balance' })).status).toBe(303)
  })

  it('can be zero; without an amount or period they are refused', async () => {
    const strict = await site.browserOf('strict')
    const path = '/settings/spending'
    const wrong: Record<string, string>[] = [
      { amount_minor: '' },
      { amount_minor: '5', period: 'hour' },
      { amount_minor: '5', token_id: 'x' },
    ]
    for (const fields of wrong) expect((await strict.submit(path, path, { period: 'day', ...fields })).status).toBe(422)
    expect((await strict.submit(path, path, { period: 'total', amount_minor: '0' })).status).toBe(303)
    expect((await strict.get(path)).text).toMatch(/\$0\.00 in total/)
  })
})
