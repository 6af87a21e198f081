import { openTestSite, type TestBrowser, type TestSite } from '@agentgym/testkit/site'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPublisher, type PublishSampled } from './publish-sampled.ts'

let site: TestSite
let seller: TestBrowser
let publish: PublishSampled

beforeAll(async () => {
  site = await openTestSite({ environment: { AGENTGYM_PRICE_NOTICE_DAYS: '0' } })
  const publisher = await openPublisher(site)
  seller = publisher.owner
  publish = publisher.publish
})
afterAll(() => site.close())

let made = 0
/** A new package of the seller's at that price. */
async function onSale(amountMinor: number, terms = ''): Promise<string> {
  made += 1
  const base = `ware-${made}`
  await publish(base, null)
  await setPrice(base, amountMinor, terms)
  return base
}

async function setPrice(base: string, amountMinor: number, terms = '') {
  const body = { kind: 'one_time', amount_minor: amountMinor, terms }
  const { status } = await seller.api('PUT', `/v1/packages/@acme/${base}/price`, body)
  expect(status).toBe(200)
}

async function buyerWith(username: string, amount: string): Promise<TestBrowser> {
  const browser = await site.browserOf(username)
  if (amount !== '') await browser.submit('/balance', '/balance/top-ups', { amount_minor: amount })
  return browser
}

const available = async (browser: TestBrowser, account = ''): Promise<number> => {
  const response = await browser.api('GET', `/v1/balance${account}`)
  return ((await response.json()) as { available_minor: number }).available_minor
}
const orders = async (browser: TestBrowser): Promise<unknown[]> =>
  ((await (await browser.api('GET', '/v1/orders')).json()) as { orders: unknown[] }).orders

describe('checkout', () => {
  it('shows everything before payment, buys with one button, and ends at a receipt', async () => {
    const base = await onSale(2_500, 'Not for <b>weapons</b>.\nAsk before you resell.')
    const buyer = await buyerWith('ada', '40')
    const page = `/buy/@acme/${base}`
    const { text } = await buyer.get(page)
    expect(text).toContain('Buy for $25.00')
    expect(text).toMatch(/\$40\.00 now, \$15\.00[\s\S]{0,20}after this purchase/)
    expect(text).toContain('Not for &lt;b&gt;weapons&lt;/b&gt;.\nAsk before you resell.')
    expect(text.match(/<button class="button button-primary"/g)).toHaveLength(1)
    const bought = await buyer.submit(page, page, { pay_with: 'balance' })
    expect(bought.status).toBe(303)
    const address = bought.headers.get('location') ?? ''
    expect(address).toMatch(/^\/orders\/[0-9a-f-]{36}$/)
    const receipt = await buyer.get(address)
    for (const shown of [page, address, '/balance', '/orders', '/packages', `/packages/@acme/${base}`])
      expect((await buyer.get(shown)).text, shown).toContain('Test money')
    for (const said of ['Receipt', '$25.00', `@acme/${base}`, 'from balance', 'all 1.x versions'])
      expect(receipt.text).toContain(said)
    expect(await available(buyer)).toBe(1_500)
    expect((await buyer.get(page)).text).toContain('You already own')
    expect((await buyer.get('/orders')).text).toContain(`href="${address}"`)
    expect((await buyer.get('/licences')).text).toContain(`href="${address}"`)
    expect((await seller.get('/sales')).text).toContain(`href="${address}"`)
  })

  it('submitting the form twice buys once', async () => {
    const base = await onSale(500)
    const buyer = await buyerWith('twice', '20')
    const fields = fieldsOf((await buyer.get(`/buy/@acme/${base}`)).text)
    const sent = await Promise.all([1, 2, 3].map(() => buyer.post(`/buy/@acme/${base}`, { ...fields })))
    expect(sent.map(({ status }) => status)).toEqual([303, 303, 303])
    expect(new Set(sent.map(({ headers }) => headers.get('location'))).size).toBe(1)
    expect([await available(buyer), (await orders(buyer)).length]).toEqual([1_500, 1])
  })

  it('a changed price buys nothing, and is shown for acceptance', async () => {
    const base = await onSale(500)
    const buyer = await buyerWith('slow', '20')
    const fields = fieldsOf((await buyer.get(`/buy/@acme/${base}`)).text)
    await setPrice(base, 900)
    const refused = await buyer.post(`/buy/@acme/${base}`, fields)
    expect(refused.status).toBe(409)
    expect(refused.text).toContain('Nothing was bought')
    expect(refused.text).toContain('Buy for $9.00')
    expect(await available(buyer)).toBe(2_000)
    const accepted = await buyer.post(`/buy/@acme/${base}`, fieldsOf(refused.text))
    expect(accepted.status).toBe(303)
    expect(await available(buyer)).toBe(1_100)
  })

  it('a form without a price, or with a forged one, buys nothing', async () => {
    const base = await onSale(500)
    const buyer = await buyerWith('clever', '20')
    const fields = fieldsOf((await buyer.get(`/buy/@acme/${base}`)).text)
    for (const price of ['', '1', '0', '-5', 'x', '1e3']) {
      const refused = await buyer.post(`/buy/@acme/${base}`, { ...fields, price_minor: price })
      expect([409, 422]).toContain(refused.status)
    }
    expect((await buyer.post(`/buy/@acme/${base}`, { ...fields, idempotency_key: '' })).status).toBe(422)
    expect([await available(buyer), (await orders(buyer)).length]).toEqual([2_000, 0])
  })

  it('with a low balance leads to a top-up of the missing amount, and back', async () => {
    const base = await onSale(2_500)
    const buyer = await buyerWith('poor', '5')
    const page = `/buy/@acme/${base}`
    const { text } = await buyer.get(page)
    expect(text).toContain('$20.00 short')
    expect(text).toMatch(/value="balance" disabled/)
    const link = /href="(\/balance\?[^"]+)"/.exec(text)?.[1].replaceAll('&amp;', '&') ?? ''
    const form = await buyer.get(link)
    expect(form.text).toMatch(/name="amount_minor"[^>]*value="20\.00"/)
    const paid = await buyer.submit(link, '/balance/top-ups', { amount_minor: '20.00' })
    const payment = await buyer.get(paid.headers.get('location') ?? '')
    expect(payment.text).toContain(`href="${page}"`)
    // Whatever the browser sends, what the balance lacks is refused by the API.
    const other = await onSale(9_900)
    const forced = fieldsOf((await buyer.get(`/buy/@acme/${other}`)).text)
    const refused = await buyer.post(`/buy/@acme/${other}`, { ...forced, pay_with: 'balance' })
    expect(refused.status).toBe(402)
    expect(refused.text).toContain('class="notice notice-failure"')
  })

  it('pays directly at the provider', async () => {
    const base = await onSale(700)
    const buyer = await buyerWith('direct', '')
    const bought = await buyer.submit(`/buy/@acme/${base}`, `/buy/@acme/${base}`, { pay_with: 'provider' })
    expect(bought.status).toBe(303)
    const receipt = await buyer.get(bought.headers.get('location') ?? '')
    expect(receipt.text).toContain('via payment provider')
  })

  it('refuses own packages, free packages, and foreign organizations', async () => {
    const base = await onSale(700)
    expect((await seller.get(`/buy/@acme/${base}`)).text).toContain('This package belongs to acme')
    await publish('gratis', null)
    const buyer = await buyerWith('eve', '20')
    expect((await buyer.get('/buy/@acme/gratis')).text).toContain('This package is free')
    expect((await buyer.get(`/buy/@acme/${base}?account=acme`)).status).toBe(403)
    expect((await buyer.get(`/buy/@acme/${base}?account=nobody-at-all`)).status).toBe(404)
    const fields = fieldsOf((await buyer.get(`/buy/@acme/${base}`)).text)
    const forced = await buyer.post(`/buy/@acme/${base}`, { ...fields, account: 'acme' })
    expect(forced.status).toBe(403)
    expect((await buyer.get('/buy/@acme/nothing')).status).toBe(404)
    expect((await buyer.get(`/buy/@acme/${base}?range=9.0.0`)).status).toBe(404)
  })

  it('members buy for their organisation from its balance', async () => {
    const base = await onSale(700)
    const boss = await buyerWith('boss', '')
    await boss.api('POST', '/v1/organisations', { username: 'robots' })
    await boss.submit('/balance?account=robots', '/balance/top-ups', { amount_minor: '10' })
    const page = `/buy/@acme/${base}?account=robots`
    const { text } = await boss.get(page)
    expect(text).toContain('Balance of robots')
    expect(text).toMatch(/href="\/buy\/@acme\/ware-\d+\?account=robots" aria-current="true"/)
    const bought = await boss.post(`/buy/@acme/${base}`, fieldsOf(text))
    expect(bought.status).toBe(303)
    expect([await available(boss), await available(boss, '?account=robots')]).toEqual([0, 300])
    expect((await boss.get(bought.headers.get('location') ?? '')).text).toContain('placed by boss')
  })

  it('a form of another session buys nothing', async () => {
    const base = await onSale(700)
    const buyer = await buyerWith('target', '20')
    const other = await buyerWith('other', '')
    const fields = fieldsOf((await other.get(`/buy/@acme/${base}`)).text)
    expect((await buyer.post(`/buy/@acme/${base}`, fields)).status).toBe(403)
    expect(await available(buyer)).toBe(2_000)
  })
})

/** What the page's form for the payment would send as it stands. */
function fieldsOf(page: string): Record<string, string> {
  const form = /<form[^>]*aria-label="Payment"[^>]*>([\s\S]*?)<\/form>/.exec(page)?.[1] ?? ''
  const hidden = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)]
  const fields = Object.fromEntries(hidden.map(([, name, value]) => [name, value.replaceAll('&amp;', '&')]))
  return { ...fields, pay_with: /value="(\w+)" checked/.exec(form)?.[1] ?? 'balance' }
}
