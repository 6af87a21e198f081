import { answerCalls, leaseCalls } from '@agentgym/client'
import type { CallAnswer, LeasedCalls } from '@agentgym/contract'
import { openTestSite, type TestBrowser, type TestSite } from '@agentgym/testkit/site'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clientOf, openPublisher } from './publish-sampled.ts'
import { publishVerified } from './publish-verified.ts'

const solver = '/packages/@acme/solver'
const page = `${solver}/try`

let site: TestSite
let owner: TestBrowser
let visitor: TestBrowser
/** What the worker has been asked; it answers with `reply`. */
const request: LeasedCalls['calls'][number][] = []
let reply: (id: string) => CallAnswer
const stop = new AbortController()
let working: Promise<void>
beforeAll(async () => {
  site = await openTestSite({})
  const publisher = await openPublisher(site)
  owner = publisher.owner
  await publisher.publish('pole', null)
  await publishVerified(site, owner, 'solver', '@acme/pole')
  const price = { kind: 'one_time', amount_minor: 500, trial_calls: 2 }
  await owner.api('PUT', '/v1/packages/@acme/solver/price', price)
  visitor = await site.browserOf('visitor')
  working = work()
})
afterAll(async () => {
  stop.abort()
  await working
  await site.close()
})

/** Answers calls as a worker does, until the tests are over. */
async function work(): Promise<void> {
  const worker = await clientOf(site, await site.browserOf('operator'), ['worker'])
  const workerId = crypto.randomUUID()
  while (!stop.signal.aborted) {
    try {
      const leased = await leaseCalls(worker, { workerId, loaded: [], waitMs: 500, signal: stop.signal })
      if (leased === undefined) continue
      request.push(...leased.calls)
      await answerCalls(
        worker,
        leased,
        leased.calls.map(({ id }) => reply(id)),
      )
    } catch (error) {
      if (!stop.signal.aborted) throw error
    }
  }
}

const left = (id: string): CallAnswer => ({ id, action: 0, label: null, probabilities: [0.75, 0.25], model_ms: 1.5 })
const typed = { 'observation-0-0': '0.5', 'observation-0-1': '-1' }
const ask = (browser: TestBrowser, fields: Record<string, string> = {}) =>
  browser.submit(page, page, { ...typed, action_mask: '', ...fields })

describe('trying an agent', () => {
  it('shows anonymous visitors the inputs, and the login', async () => {
    const { status, text } = await site.browser().get(page)
    expect(status).toBe(200)
    expect(text).toContain(`<form class="form form-stack" method="get" action="${page}/values"`)
    expect(text).toContain('Log in to call')
    expect(text).toContain('observation[1]')
    expect(text).toContain('2 free trial calls per account.')
    expect(text).not.toContain(`action="${page}"`)
    expect((await site.browser().get(solver)).text).toContain(`href="${page}"`)
    const token = await site.browser().formToken('/login')
    const refused = await site.browser().post(page, { ...typed, form_token: token })
    expect([303, 403]).toContain(refused.status)
  })

  it('keeps what strangers entered while they log in, and calls nothing', async () => {
    const entered = `${page}/values?observation-0-0=0.125&observation-0-1=-2&action_mask=`
    const { status, headers } = await site.browser().get(entered)
    expect([status, headers.get('location')]).toEqual([303, `/login?next=${encodeURIComponent(entered)}`])
    const before = request.length
    const { text } = await visitor.get(entered)
    expect(text).toContain('value="0.125"')
    expect(text).toContain('The agent’s action appears here.')
    expect(request.length).toBe(before)
  })

  it('shows the action, its probability, and the remaining trial calls', async () => {
    reply = left
    const { status, text } = await ask(visitor)
    expect(status).toBe(200)
    expect(request.at(-1)).toMatchObject({ observation: [0.5, -1], action_mask: null })
    expect(text).toMatch(/class="trial-action"[^>]*>0</)
    expect(text).toMatch(/<rect class="trial-bar" width="75"/)
    expect(text).toContain('75.0%')
    expect(text).toContain('Free trial call')
    expect(text).toMatch(/Trial calls left.*?1 call</s)
    // What was asked stands there to be changed, and as JSON and as a command.
    expect(text).toContain('value="-1"')
    expect(text).toContain('&quot;observation&quot;: [ 0.5, -1 ]')
    expect(text).toContain(`curl &#39;${site.url}/v1/packages/@acme/solver/calls&#39; \\\n`)
    expect(text).toContain(`-d &#39;{&quot;version&quot;:&quot;0.1.0&quot;,&quot;observation&quot;:[0.5,-1]}&#39;`)
  })

  it('calls once for a resubmitted form, and again for changed values', async () => {
    const other = await site.browserOf('reloader')
    const { text } = await other.get(page)
    const once = /name="idempotency_key" value="([^"]+)"/.exec(text)?.[1] ?? ''
    const form = { ...typed, idempotency_key: once, form_token: await other.formToken(page) }
    const before = request.length
    const [first, again] = [await other.post(page, form), await other.post(page, form)]
    for (const one of [first, again]) expect(one.text).toMatch(/Trial calls left.*?1 call</s)
    expect(request.length).toBe(before + 1)
    const changed = await other.post(page, { ...form, 'observation-0-0': '0.25' })
    expect(changed.text).toMatch(/Trial calls left.*?0 calls</s)
    expect(request.at(-1)?.observation).toEqual([0.25, -1])
  })

  it('shows errors at their fields, keeps values, and makes no call', async () => {
    const before = request.length
    const wrong = await ask(visitor, { 'observation-0-1': 'up<script>' })
    expect(wrong.status).toBe(422)
    expect(wrong.text).toMatch(/id="field-observation-0-1-wrong"[^>]*>Enter a number/)
    expect(wrong.text).toContain('value="up&lt;script&gt;"')
    expect((await ask(visitor, { action_mask: '[true' })).text).toContain('id="field-action_mask-wrong"')
    expect(request.length).toBe(before)
  })

  it('shows refusals and failures, without using the trial', async () => {
    reply = (id) => ({ id, error: { code: 'mask_invalid', message: 'The mask has <b>3</b> entries.' } })
    const refused = await ask(visitor, { action_mask: '[true, false, true]' })
    expect(refused.status).toBe(422)
    expect(refused.text).toMatch(/id="field-action_mask-wrong"[^>]*>The mask has &lt;b&gt;3&lt;\/b&gt; entries/)
    reply = (id) => ({ id, error: { code: 'observation_invalid', message: 'observation[0] is out of bounds.' } })
    expect((await ask(visitor)).text).toContain('observation[0] is out of bounds.')
    reply = (id) => ({ id, error: { code: 'model_timeout', message: 'The model took too long.' } })
    const failed = await ask(visitor)
    expect(failed.status).toBe(502)
    expect(failed.text).toContain('The model took too long.')
    expect(failed.text).toContain(`action="${page}"`)
    reply = left
    expect((await ask(visitor)).text).toMatch(/Trial calls left.*?0 calls</s)
  })

  it('leads to the purchase once the trial is used up', async () => {
    const refused = await ask(visitor)
    expect(refused.status).toBe(402)
    expect(refused.text).toContain('are used up')
    expect(refused.text).toContain('href="/buy/@acme/solver"')
  })

  it('costs its owner nothing', async () => {
    reply = (id) => ({ ...left(id), action: { tool: 1, amount: [0.5] }, label: '<i>stop</i>', probabilities: null })
    const { text } = await ask(owner)
    expect(text).toContain('Free (your agent)')
    expect(text).toContain('&lt;i&gt;stop&lt;/i&gt;')
    expect(text).toContain('[0.5]')
  })

  it('is not offered without trial calls', async () => {
    await publishVerified(site, owner, 'untried', '@acme/pole')
    await owner.api('PUT', '/v1/packages/@acme/untried/price', { kind: 'one_time', amount_minor: 500 })
    const page = '/packages/@acme/untried/try'
    const { text } = await (await site.browserOf('late')).get(page)
    expect(text).toContain('The seller offers no trial calls.')
    expect(text).toContain('Buy for $5.00')
    expect(text).not.toContain(`action="${page}"`)
    const form_token = await visitor.formToken('/')
    expect((await visitor.post(page, { ...typed, form_token, idempotency_key: crypto.randomUUID() })).status).toBe(402)
  })

  it('is for agents: a scenario’s URL redirects to its page', async () => {
    expect((await visitor.get('/packages/@acme/pole/try')).headers.get('location')).toBe('/packages/@acme/pole')
    expect((await visitor.get('/packages/@acme/nothing/try')).status).toBe(404)
  })
})
