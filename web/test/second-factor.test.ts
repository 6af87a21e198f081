import { openTestSite, password, type TestBrowser, type TestPage, type TestSite } from '@agentgym/testkit/site'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sampleEpisode } from '../../testdata/episodes/sample-episode.ts'
import { openPublisher } from './publish-sampled.ts'
import { codesOn, enable, setUpFactor } from './set-up-factor.ts'

let site: TestSite
let owner: TestBrowser
let operator: TestBrowser
beforeAll(async () => {
  site = await openTestSite({})
  owner = await site.browserOf('ann')
  operator = await site.browserOf('operator')
})
afterAll(() => site.close())

const leadsTo = ({ status, headers }: TestPage) => [status, headers.get('location')]
const security = '/settings/security'
it('is set up, requested at login and removed by forms', async () => {
  const wrong = await owner.submit(security, `${security}/begin`, { current_password: 'not the password' })
  expect([wrong.status, wrong.text.includes('The current password is wrong')]).toEqual([401, true])
  const begun = await owner.submit(security, `${security}/begin`, { current_password: password })
  expect(begun.text).toMatch(/<svg class="qr-code"[^>]*>.*<path d="M\d+ \d+h1v1h-1z/s)
  expect(begun.text).toContain('otpauth://totp/AgentGym:ann?issuer=AgentGym')
  const mistyped = await enable(owner, 'abc')
  expect([mistyped.status, mistyped.text.includes('wrong, expired or already used')]).toEqual([401, true])
  const codes = await setUpFactor(owner)
  expect(codes).toHaveLength(10)
  const shown = await owner.get(security)
  expect(shown.text).toContain('10 of 10 recovery codes left')
  expect(codesOn(shown)).toEqual([])

  const browser = site.browser()
  const first = await browser.submit('/login', '/login', { username: 'ann', password, next: '/settings/tokens' })
  expect(leadsTo(first)).toEqual([303, '/login/code?next=%2Fsettings%2Ftokens'])
  // Until the code is entered there is no session.
  expect(leadsTo(await browser.get('/settings/tokens'))[1]).toMatch(/^\/login/)
  const page = '/login/code?next=%2Fsettings%2Ftokens'
  expect(
    (await browser.submit(page, '/login/code', { next: '/settings/tokens', code: codes[0].slice(1) })).status,
  ).toBe(401)
  const entered = await browser.submit(page, '/login/code', { next: '/settings/tokens', code: codes[0] })
  expect(leadsTo(entered)).toEqual([303, '/settings/tokens'])
  expect((await browser.get('/settings/tokens')).status).toBe(200)
  // Entered with the log-in, it counts as confirmed.
  expect(leadsTo(await browser.submit(security, `${security}/remove`, {}))).toEqual([303, security])
  expect((await browser.get(security)).text).toContain('Set up authenticator app')
})

it('leads to the code if required, and back to this site only', async () => {
  const user = await site.browserOf('bob')
  const codes = await setUpFactor(user)
  const other = site.browser()
  await other.submit('/login', '/login', { username: 'bob', password })
  await other.submit('/login/code', '/login/code', { code: codes[0], next: '//evil.example' }).then((answer) => {
    expect(leadsTo(answer)).toEqual([303, '/'])
  })
  // A changed password starts a session that has not confirmed anything.
  const changed = { current_password: password, password: `${password}!` }
  await other.submit('/settings/account', '/settings/account/password', changed)
  const token = { name: 'x', scopes: 'market:sell', expires_in_days: '30', period: 'month' }
  const sent = { ...token, form_token: await other.formToken('/settings/tokens') }
  for (const [referer, next] of [
    [`${site.url}/settings/tokens`, '/settings/tokens'],
    ['https://evil.example/settings/tokens', '/'],
  ]) {
    const refused = await other.post('/settings/tokens', sent, { referer })
    expect(leadsTo(refused)).toEqual([303, `/settings/security/confirm?next=${encodeURIComponent(next)}`])
  }
  const confirm = '/settings/security/confirm?next=%2Fsettings%2Ftokens'
  const wrong = await other.submit(confirm, '/settings/security/confirm', { code: codes[0], next: '/settings/tokens' })
  expect(wrong.status).toBe(401)
  const right = await other.submit(confirm, '/settings/security/confirm', { code: codes[1], next: '/settings/tokens' })
  expect(leadsTo(right)).toEqual([303, '/settings/tokens'])
  const made = await other.submit('/settings/tokens', '/settings/tokens', token)
  expect([made.status, made.text.includes('agt_')]).toEqual([200, true])
})

it('protects prices, payouts and destinations from unconfirmed sessions and tokens', async () => {
  const { owner: seller, publish } = await openPublisher(site)
  await publish('guarded', sampleEpisode())
  const old = await seller.api('POST', '/v1/tokens', { name: 'old', scopes: ['market:sell'] })
  const { token } = (await old.json()) as { token: string }
  const unconfirmed = await site.browserOf('acme')
  const codes = await setUpFactor(seller)
  const price = { kind: 'one_time', amount_minor: 900, terms: 'x' }
  const acts: [method: string, path: string, body: object][] = [
    ['PUT', '/v1/packages/@acme/guarded/price', price],
    ['PUT', '/v1/payout-destination', {}],
    ['POST', '/v1/payouts', { amount_minor: 100 }],
  ]
  const codeOf = async (response: Response) => ((await response.json()) as { error?: { code: string } }).error?.code
  for (const [method, path, body] of acts) {
    expect(await codeOf(await unconfirmed.api(method, path, body)), path).toBe('second_factor_required')
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const byToken = await fetch(site.url + path, { method, headers, body: JSON.stringify(body) })
    expect(await codeOf(byToken), path).toBe('second_factor_required')
  }
  const shown = async () => (await (await seller.api('GET', '/v1/packages/@acme/guarded/price')).json()) as object
  expect(JSON.stringify(await shown())).not.toContain('900')
  const code = { code: codes[0] }
  expect((await unconfirmed.api('POST', '/v1/sessions/current/second-factor', code)).status).toBe(200)
  expect((await unconfirmed.api('PUT', '/v1/packages/@acme/guarded/price', price)).status).toBe(200)
  for (const [method, path, body] of acts.slice(1))
    expect(await codeOf(await unconfirmed.api(method, path, body)), path).not.toBe('second_factor_required')
})

it('is reset by an operator on the site', async () => {
  const user = await site.browserOf('cid')
  await setUpFactor(user)
  const page = await operator.get('/operator/accounts?q=cid')
  expect(page.text).toContain('Reset second factor')
  const form_token = await operator.formToken('/operator/accounts')
  const done = await operator.post('/operator/accounts', { form_token, username: 'cid', act: 'reset_factor' })
  expect(leadsTo(done)).toEqual([303, '/operator/accounts?done=reset_factor'])
  expect((await operator.get('/operator/accounts?q=cid')).text).not.toContain('Reset second factor')
  expect(leadsTo(await user.get(security))[1]).toMatch(/^\/login/)
})
