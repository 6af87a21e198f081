import { studyNote } from '@agentgym/contract'
import { openTestSite, password, type TestBrowser, type TestPage, type TestSite } from '@agentgym/testkit/site'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPublisher } from './publish-sampled.ts'
import { trainABit } from './train-a-bit.ts'

const hostile = `</title><script>alert(1)</script>"'><img src=x onerror=alert(2)>`

let site: TestSite
let owner: TestBrowser
let other: TestBrowser
let operator: TestBrowser
beforeAll(async () => {
  site = await openTestSite({})
  const publisher = await openPublisher(site)
  owner = publisher.owner
  await publisher.publish('pole', null)
  await publisher.publish('hidden-pole', null, 'private')
  other = await site.browserOf('other')
  operator = await site.browserOf('operator')
})
afterAll(() => site.close())

const leadsTo = ({ headers }: TestPage) => headers.get('location') ?? ''
const start = (fields: Record<string, string>) =>
  owner.submit('/runs/new', '/runs/new', { scenario: '@acme/pole', ...fields })

describe('runs', () => {
  it('are started, listed and canceled by forms', async () => {
    const started = await start({ steps: '5000', budget_minor: '12.50', note: hostile, settings: 'gamma=0.9\r\n' })
    expect(started.status).toBe(303)
    const address = leadsTo(started)
    const { status, text } = await owner.get(address)
    expect(status).toBe(200)
    expect(text).toContain('queued')
    expect(text).toContain('no worker is connected')
    expect(text).toContain('$0.00 of $12.50')
    expect(text).toContain('No data yet')
    expect(text).not.toContain('<script>alert')
    const list = await owner.get('/runs?state=queued')
    expect(list.text).toContain(`href="${address}"`)
    expect(list.text).not.toContain('<img src=x')
    expect((await owner.submit(address, `${address}/cancel`, {})).status).toBe(303)
    expect((await owner.get(address)).text).toContain('canceled')
    expect((await owner.get('/runs?state=queued')).text).toContain('No matching runs')
  })

  it('cannot be seen, compared, canceled or paid for by others', async () => {
    const address = leadsTo(await start({}))
    const form_token = await other.formToken('/runs')
    expect((await other.get(address)).status).toBe(404)
    expect((await other.get(`/runs/compare?ids=${address.split('/').at(-1)}`)).status).toBe(404)
    for (const what of ['cancel', 'resume'])
      expect((await other.post(`${address}/${what}`, { form_token, budget_minor: '5' })).status).toBe(404)
    expect((await site.browser().get(address)).headers.get('location')).toBe(
      `/login?next=${encodeURIComponent(address)}`,
    )
    expect((await owner.get('/runs/0-0')).status).toBe(404)
    expect((await owner.get(address)).text).toContain('queued')
    await owner.submit(address, `${address}/cancel`, {})
  })

  it.each([
    [{ budget_minor: '1e3' }, '1e3 is not an amount'],
    [{ settings: 'nothing' }, 'is not a setting. Write it as NAME=VALUE'],
    [{ settings: 'no_such_setting=1' }, 'no_such_setting'],
    [{ scenario: '@acme/nowhere' }, 'nowhere'],
    [{ steps: '0' }, 'field-steps-wrong'],
    [{ workers: '65' }, 'field-workers-wrong'],
    [{ algorithm: 'dqn', workers: '2' }, 'dqn learns on one worker. Several workers train by ppo, a2c and grpo.'],
    [{ gpus: '65' }, 'field-gpus-wrong'],
    [{ gpus: '0', gpu_memory: '24' }, 'field-gpu_memory-wrong'],
    [{ publish: '@other/agent' }, 'other'],
  ])('keep the values if refused: %o', async (fields, message) => {
    const refused = await start({ note: 'keep me', ...fields })
    expect(refused.status).toBeGreaterThanOrEqual(400)
    expect(refused.status).toBeLessThan(500)
    expect(refused.text).toContain(message)
    expect(refused.text).toContain('value="keep me"')
  })

  it('start from an agent of the registry, and from nothing else', async () => {
    const { status, text } = await start({ from: '@acme/pole' })
    expect(status).toBe(422)
    expect(text).toMatch(/name="from"[^>]*value="@acme\/pole"/)
    expect(text).toContain('is a scenario')
  })

  it('that need a GPU say so, and a similar run asks for the same', async () => {
    const address = leadsTo(await start({ gpus: '2', gpu_memory: '24' }))
    const [id] = address.split('/').slice(-1)
    expect(await (await owner.api('GET', `/v1/runs/${id}`)).json()).toMatchObject({
      gpu: { count: 2, memory_bytes: 24e9 },
    })
    const { text } = await owner.get(`/runs/new?like=${id}`)
    expect(text).toContain('No connected worker has a GPU')
    expect(text).toMatch(/name="gpus"[^>]*value="2"/)
    expect(text).toMatch(/name="gpu_memory"[^>]*value="24"/)
    await owner.submit(address, `${address}/cancel`, {})
  })

  it('of several workers say so, and a similar run asks for as many', async () => {
    const address = leadsTo(await start({ workers: '2' }))
    const [id] = address.split('/').slice(-1)
    expect(await (await owner.api('GET', `/v1/runs/${id}`)).json()).toMatchObject({ workers: 2 })
    expect((await owner.get(`/runs/new?like=${id}`)).text).toMatch(/name="workers"[^>]*value="2"/)
    await owner.submit(address, `${address}/cancel`, {})
  })

  it('submitted twice are one run', async () => {
    const { text } = await owner.get('/runs/new')
    const once = /name="idempotency_key" value="([^"]+)"/.exec(text)?.[1] ?? ''
    const sent = { scenario: '@acme/pole', idempotency_key: once, form_token: await owner.formToken('/runs/new') }
    const [first, second] = [await owner.post('/runs/new', sent), await owner.post('/runs/new', sent)]
    expect(leadsTo(first)).toMatch(/^\/runs\/[0-9a-f-]{36}$/)
    expect(leadsTo(second)).toBe(leadsTo(first))
    await owner.submit(leadsTo(first), `${leadsTo(first)}/cancel`, {})
  })

  it('are listed page by page', async () => {
    for (let made = 0; made < 19; made++)
      await owner.api('POST', '/v1/runs', { scenario: '@acme/pole', note: `Number ${made}` })
    const { text } = await owner.get('/runs')
    const [, address = ''] = /href="(\/runs\?[^"]*cursor=[^"]*)"/.exec(text) ?? []
    expect(address).toMatch(/^\/runs\?cursor=/)
    expect((await owner.get(address)).text).toContain('class="run-name"')
    const { runs } = (await (await owner.api('GET', '/v1/runs?state=queued&limit=100')).json()) as {
      runs: { id: string }[]
    }
    for (const { id } of runs) await owner.api('POST', `/v1/runs/${id}/cancel`, {})
  })

  it('of a study can be chosen on the page of a sweep', async () => {
    const note = studyNote('0d3f8a52-4c8f-4d8c-9b62-0a4b1c5e7f00', 'candidate 1')
    const { id } = (await (await owner.api('POST', '/v1/runs', { scenario: '@acme/pole', note })).json()) as {
      id: string
    }
    const { text } = await owner.get('/runs/sweep?scenario=@acme/pole&study=0d3f8a52')
    expect(text).toContain('<option value="0d3f8a52" selected="">Study 0d3f8a52 (1 run)</option>')
    await owner.api('POST', `/v1/runs/${id}/cancel`, {})
  })

  it('in training show their curve, and reload on request', async () => {
    const address = leadsTo(await start({ steps: '5000', note: 'Watched' }))
    await trainABit(site)
    const { text, headers } = await owner.get(address)
    expect(text).toContain('<path class="chart-line chart-line-1" d="M')
    expect(text).toMatch(/data-metric="return_mean">30</)
    expect(text).toMatch(/data-metric="steps">300</)
    expect(text).toContain('Training on')
    expect(text).toContain('Reload every 10 seconds')
    expect(headers.get('refresh')).toBeNull()
    const reloading = await owner.get(`${address}?refresh=10`)
    expect(reloading.headers.get('refresh')).toBe('10')
    expect(reloading.text).toContain('Stop reloading')
    expect((await owner.get(`${address}?refresh=0`)).headers.get('refresh')).toBeNull()
    const id = address.split('/').at(-1)
    const compared = await owner.get(`/runs/compare?ids=${id}&ids=${id}&ids=nonsense`)
    expect(compared.text.match(/<path class="chart-line /g)).toHaveLength(1)
    expect(compared.text).toContain('Watched')
  })
})

describe('settings', () => {
  it('of notifications', async () => {
    const page = '/settings/notifications'
    expect((await owner.submit(page, page, { site: 'runs', email: 'sales' })).status).toBe(303)
    const { text } = await owner.get(page)
    const checked = [...text.matchAll(/<input type="checkbox" name="(\w+)" value="(\w+)" checked=""( disabled="")?/g)]
    expect(checked.map(([, channel, topic, required]) => [channel, topic, required !== undefined])).toEqual(
      expect.arrayContaining([
        ['site', 'runs', false],
        ['email', 'sales', false],
        ['email', 'moderation', true],
      ]),
    )
    expect(checked).toHaveLength(6)
  })

  it('of webhooks show a secret once, and the log of deliveries', async () => {
    const page = '/settings/webhooks'
    const refused = await owner.submit(page, page, { url: 'https://10.0.0.1/hook', description: hostile })
    expect(refused.status).toBe(422)
    expect(refused.text).toContain('it is not a public address')
    expect(refused.text).toContain('value="https://10.0.0.1/hook"')
    expect(refused.text).not.toContain('<img src=x')
    const made = await owner.submit(page, page, { url: 'https://hooks.example.com/agentgym' })
    const [secret] = /whsec_[\w+/]+=*/.exec(made.text) ?? []
    expect(secret).toBeDefined()
    const { text } = await owner.get(page)
    expect(text).not.toContain(secret)
    const address = /href="(\/settings\/webhooks\/[0-9a-f-]{36})"/.exec(text)?.[1] ?? ''
    expect((await owner.submit(address, address, { act: 'test' })).status).toBe(303)
    expect((await owner.get(address)).text).toContain('<code>webhook.test</code>')
    const rotated = await owner.submit(address, address, { act: 'rotate' })
    expect(rotated.text).toContain('whsec_')
    expect(rotated.text).not.toContain(secret)
    expect((await owner.submit(address, address, { act: 'disable' })).status).toBe(303)
    expect((await owner.get(address)).text).toContain('It was disabled by a user.')
    expect((await other.get(address)).status).toBe(404)
    expect((await owner.submit(address, address, { act: 'delete' })).status).toBe(303)
    expect((await owner.get(address)).status).toBe(404)
  })

  it('show a token once, with its cap', async () => {
    const page = '/settings/tokens'
    const fields = { name: 'ci', expires_in_days: '7', scopes: 'packages:read', amount_minor: '20', period: 'month' }
    const made = await owner.submit(page, page, fields)
    expect(made.status).toBe(200)
    const [token] = /agt_[0-9A-Za-z]{33}/.exec(made.text) ?? []
    expect(made.headers.get('cache-control')).toBe('no-store')
    const { text } = await owner.get(page)
    expect(text).not.toContain(token)
    expect(text).toContain('$20.00 per month')
    const id = /name="id" value="([0-9a-f-]{36})"[^>]*>Revoke/.exec(text)?.[1] ?? ''
    expect((await owner.submit(page, '/settings/tokens/revoke', { id })).status).toBe(303)
  })

  it('refuse a token without scopes, or with an invalid cap', async () => {
    const page = '/settings/tokens'
    const without = await owner.submit(page, page, { name: 'idle', expires_in_days: '7' })
    expect(without.text).toContain('Select at least one scope.')
    const fields = { name: 'rich', expires_in_days: '7', scopes: 'market:buy', amount_minor: 'all' }
    expect((await owner.submit(page, page, fields)).text).toContain('All is not an amount')
    const tokens = (await (await owner.api('GET', '/v1/tokens')).json()) as { tokens: { name: string }[] }
    expect(tokens.tokens.filter(({ name }) => name === 'idle' || name === 'rich')).toEqual([])
  })

  it('end sessions one by one, and all others at once', async () => {
    const [here, there] = [await site.browserOf('mover'), await site.browserOf('mover')]
    await site.browserOf('mover')
    const page = '/settings/sessions'
    const { text } = await here.get(page)
    expect(text.match(/>End session</g)).toHaveLength(2)
    expect(text.match(/this browser/g)).toHaveLength(1)
    await here.submit(page, page, { id: 'others' })
    expect((await there.get(page)).headers.get('location')).toMatch(/^\/login/)
    expect((await here.get(page)).text).not.toContain('>End session<')
  })

  it('change a password, and report errors', async () => {
    const browser = await site.browserOf('changer')
    const action = '/settings/account/password'
    const wrong = await browser.submit('/settings/account', action, {
      current_password: 'no',
      password: `new ${password}`,
    })
    expect([401, 403, 422]).toContain(wrong.status)
    expect(wrong.text).not.toContain(`new ${password}`)
    const short = await browser.submit('/settings/account', action, { current_password: password, password: 'short' })
    expect(short.text).toContain('field-password-wrong')
    const changed = await browser.submit('/settings/account', action, {
      current_password: password,
      password: `new ${password}`,
    })
    expect(leadsTo(changed)).toBe('/settings/account?done=password')
    expect((await browser.get('/settings/account?done=password')).text).toContain('Password changed')
  })

  it('change an email address, or cancel the change', async () => {
    const browser = await site.browserOf('readdressed')
    const [page, action] = ['/settings/account', '/settings/account/email']
    const change = (email: string, email_password = password) => browser.submit(page, action, { email, email_password })
    const wrong = await change('next@example.com', 'no')
    expect([wrong.status, wrong.text.includes('field-email_password-wrong')]).toEqual([401, true])
    expect(wrong.text).toContain('value="next@example.com"')
    expect((await change('OTHER@example.com')).text).toContain('field-email-wrong')
    expect((await change('readdressed@example.com')).text).toContain('This is already the account’s address')
    expect(leadsTo(await change('next@example.com'))).toBe(`${page}?done=email`)
    expect((await browser.get(page)).text).toMatch(
      /Changing to <strong>next@example.com.*The links work until \d{4}-\d\d-\d\d \d\d:\d\d UTC/,
    )
    expect(leadsTo(await browser.submit(page, `${action}/cancel`, {}))).toBe(`${page}?done=email-canceled`)
    expect((await browser.get(page)).text).not.toContain('Changing to')
  })

  it('manage an organization’s members, who see each other within their role', async () => {
    const page = '/settings/organisations'
    expect(leadsTo(await owner.submit(page, page, { username: 'guild' }))).toBe(`${page}/guild`)
    const members = `${page}/guild/members`
    expect((await owner.submit(`${page}/guild`, members, { username: 'other', role: 'member' })).status).toBe(303)
    expect((await other.get(`${page}/guild`)).status).toBe(404)
    expect((await owner.get(`${page}/guild`)).text).toContain('Open invitations')
    const answer = (how: string) => other.submit(page, '/settings/invitations', { answer: how })
    expect(leadsTo(await answer('decline'))).toBe(page)
    expect((await owner.get(`${page}/guild`)).text).not.toContain('Open invitations')
    await owner.submit(`${page}/guild`, members, { username: 'other', role: 'member' })
    expect(leadsTo(await answer('accept'))).toBe(`${page}/guild`)
    const seen = await other.get(`${page}/guild`)
    expect(seen.text).toContain('>other<')
    expect(seen.text).not.toContain('Invite or change a member')
    const form_token = await other.formToken(page)
    const refused = await other.post(members, { form_token, username: 'other', role: 'owner' })
    expect(refused.status).toBe(422)
    expect((await operator.get(`${page}/guild`)).status).toBe(404)
    const last = await owner.submit(`${page}/guild`, `${members}/remove`, { username: 'acme' })
    expect(last.status).toBeGreaterThanOrEqual(400)
    expect(leadsTo(await other.submit(`${page}/guild`, `${members}/remove`, { username: 'other' }))).toBe(page)
    expect((await other.get(`${page}/guild`)).status).toBe(404)
  })
})

describe('publishers', () => {
  it('show public packages to everyone, and all to members', async () => {
    const seen = (await site.browser().get('/@acme')).text
    expect(seen).toContain('/packages/@acme/pole"')
    expect(seen).not.toContain('hidden-pole')
    expect((await owner.get('/@acme')).text).toContain('hidden-pole')
  })

  it('have one URL, or none', async () => {
    expect(leadsTo(await site.browser().get('/@ACME'))).toBe('/@acme')
    expect((await site.browser().get('/@nobody-at-all')).status).toBe(404)
    expect((await site.browser().get(`/@${encodeURIComponent(hostile)}`)).text).not.toContain('<img src=x')
    expect((await site.browser().get('/@other')).text).toContain('published anything yet')
  })
})

describe('operators', () => {
  it('decide reports, and find them in the audit log', async () => {
    await other.api('POST', '/v1/reports', { package: '@acme/pole', reason: 'spam', text: hostile })
    const { text } = await operator.get('/operator/moderation')
    expect(text).not.toContain('<img src=x')
    const action = /action="(\/operator\/reports\/[^"]+)"/.exec(text)?.[1] ?? ''
    const unsaid = await operator.submit('/operator/moderation', action, { decision: 'dismissed', reason: '' })
    expect(unsaid.status).toBe(422)
    const decided = { decision: 'dismissed', reason: 'It is not' }
    expect((await operator.submit('/operator/moderation', action, decided)).status).toBe(303)
    expect((await operator.get('/operator/moderation?state=dismissed')).text).toContain('It is not')
    expect((await operator.get('/operator/audit?action=report.')).text).toContain('dismissed a report of @acme/')
    expect((await operator.get('/operator/audit?view=raw')).text).toContain('<code>report.dismissed</code>')
    expect((await operator.get(`/operator/audit?actor=${encodeURIComponent(hostile)}`)).text).not.toContain(
      '<img src=x',
    )
  })

  it('take a package down, whose owner is notified with the reason, and restore it', async () => {
    const page = '/operator/moderation'
    const act = (act: string) =>
      operator.submit(page, '/operator/packages', { package: '@acme/pole', reason: 'Looked at', act })
    expect((await act('take-down')).status).toBe(303)
    expect((await other.get('/@acme')).text).not.toContain('/packages/@acme/pole"')
    expect((await owner.get('/packages/@acme/pole')).text).toContain('Looked at')
    // A scheduled task distributes events.
    const notified = () => owner.get('/notifications').then(({ text }) => text)
    await expect.poll(notified, { timeout: 60_000, interval: 500 }).toContain('@acme/pole was taken down')
    expect(await notified()).toContain('Reason: Looked at')
    expect(await notified()).toMatch(/class="bell"[^>]*aria-label="Notifications, \d+ unread"/)
    expect((await owner.submit('/notifications', '/notifications/read', {})).status).toBe(303)
    expect(await notified()).toContain('No unread notifications')
    expect((await owner.get('/notifications?show=all')).text).toContain('@acme/pole was taken down')
    expect((await act('restore')).status).toBe(303)
    const missing = { package: 'nothing', reason: 'x', act: 'take-down' }
    const refused = await operator.submit(page, '/operator/packages', missing)
    expect(refused.status).toBe(404)
    expect(refused.text).toContain('value="nothing"')
  })
})

const pages = ['/dashboard', '/runs', '/runs/new', '/runs/compare', '/settings/account', '/settings/sessions']
const more = [
  '/notifications',
  '/settings/notifications',
  '/settings/webhooks',
  '/settings/tokens',
  '/settings/organisations',
  '/operator/queue',
  '/operator/workers',
  '/publish',
]

it.each([...pages, ...more, '/operator/moderation', '/operator/audit'])(
  '%s is one document, empty or full',
  async (path) => {
    const empty = await operator.get(path)
    for (const { status, text } of path.startsWith('/operator') ? [empty] : [empty, await owner.get(path)]) {
      expect(status).toBe(200)
      expect(text.match(/<h1\b/g)).toHaveLength(1)
      expect(text).not.toMatch(/\sstyle="/)
      const ids = [...text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)
      expect(ids).toEqual([...new Set(ids)])
      expect(Buffer.byteLength(text)).toBeLessThan(100_000)
    }
  },
)
