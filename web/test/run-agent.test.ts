import { leaseJob, sendEvaluation } from '@agentgym/client'
import { openTestSite, type TestBrowser, type TestPage, type TestSite } from '@agentgym/testkit/site'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { goodAgent } from '../../testdata/tarballs/good-agent.ts'
import { clientOf, openPublisher } from './publish-sampled.ts'
import { trainToTheEnd } from './train-a-bit.ts'

const hostile = `"><script>alert(1)</script>`

let site: TestSite
let owner: TestBrowser
let other: TestBrowser
beforeAll(async () => {
  site = await openTestSite({})
  const publisher = await openPublisher(site)
  owner = publisher.owner
  await publisher.publish('pole', null)
  other = await site.browserOf('other')
})
afterAll(() => site.close())

const leadsTo = ({ headers }: TestPage) => headers.get('location') ?? ''
/** The page of a run that has ended with an agent. */
async function completed(fields: Record<string, string> = {}): Promise<string> {
  const started = await owner.submit('/runs/new', '/runs/new', { scenario: '@acme/pole', ...fields })
  await trainToTheEnd(site)
  return leadsTo(started)
}
const publish = (run: string, fields: Record<string, string>) => owner.submit(run, `${run}/publish`, fields)

describe('the agent of a finished run', () => {
  it('is published by a form with a price, and linked', async () => {
    const run = await completed()
    const before = (await owner.get(run)).text
    expect(before).toContain('Publish the agent</a>')
    expect(before).toContain('value="@acme/pole-ppo"')
    const done = await publish(run, {
      name: '@acme/balancer',
      version: '',
      visibility: 'public',
      amount_minor: '12.50',
    })
    expect([done.status, leadsTo(done)]).toEqual([303, `${run}?published=yes#agent`])
    const { text } = await owner.get(leadsTo(done))
    expect(text).toContain('<a class="mono" href="/packages/@acme/balancer">@acme/balancer@0.1.0</a>')
    expect(text).toContain('Published as @acme/balancer@0.1.0. This server now checks the agent')
    expect(text).toContain('Checks in progress')
    expect(text).toMatch(/\$12\.50[\s\S]*Set price/)
    expect(text).not.toContain('Publish the agent</a>')
    const prices = await (await owner.api('GET', '/v1/packages/@acme/balancer/price')).json()
    expect(prices).toMatchObject({ current: { kind: 'one_time', amount_minor: 1250 } })
    // Sent again, as after a lost answer, nothing more is published.
    await publish(run, { name: '@acme/balancer' })
    const list = await (await owner.api('GET', '/v1/packages/@acme/balancer/versions')).json()
    expect((list as { versions: { version: string }[] }).versions.map(({ version }) => version)).toEqual(['0.1.0'])
  })

  it.each([
    [{ name: 'balancer' }, 'name', 'scope'],
    [{ name: '@nobody-at-all/x' }, 'name', 'nobody-at-all'],
    [{ name: '@acme/pole' }, 'name', 'is published as scenario'],
    [{ name: hostile }, 'name', ''],
    [{ name: '@acme/x', version: 'v1' }, 'version', 'strict semantic version'],
    [{ name: '@acme/x', visibility: 'secret' }, 'visibility', ''],
    [{ name: '@acme/x', amount_minor: '1e3' }, 'amount_minor', 'is not an amount'],
  ])('keeps the values if refused: %o', async (fields: Record<string, string>, field, message) => {
    const run = await finished()
    const refused = await publish(run, { version: '7.7.7', ...fields })
    expect(refused.status).toBeGreaterThanOrEqual(400)
    expect(refused.status).toBeLessThan(500)
    const wrong = new RegExp(`id="field-${field}-wrong"[^>]*>([^<]*)<`).exec(refused.text)?.[1]
    expect(wrong).toContain(message)
    expect(refused.text).toContain(`value="${fields.version ?? '7.7.7'}"`)
    expect(refused.text).not.toContain('<script>alert')
    expect((await owner.get(run)).text).toContain('Publish the agent</a>')
  })

  it('is published even if its price is refused, with a notice', async () => {
    const operator = await site.browserOf('operator')
    await operator.api('POST', '/v1/organisations', { username: 'guild' })
    await operator.api('PUT', '/v1/organisations/guild/members/acme', { role: 'member' })
    await owner.api('PUT', '/v1/invitations/guild', { role: 'member' })
    const run = await completed()
    const refused = await publish(run, { name: '@guild/dear', amount_minor: '3' })
    expect(refused.status).toBe(403)
    expect(refused.text).toContain('@guild/dear was published, but its price could not be set.')
    expect(refused.text).toContain('id="field-amount_minor-wrong"')
    expect(refused.text).toContain('@guild/dear@0.1.0')
    expect((await publish(run, { name: '@guild/dear' })).status).toBe(303)
  })

  it('cannot be published or evaluated by others', async () => {
    const run = await finished()
    const form_token = await other.formToken('/runs')
    for (const what of ['publish', 'evaluate'])
      expect((await other.post(`${run}/${what}`, { form_token, name: '@other/stolen', episodes: '1' })).status).toBe(
        404,
      )
    expect((await site.browser().get('/packages/@other/stolen')).status).toBe(404)
  })

  it('shows viewers no form, and refuses theirs', async () => {
    await owner.api('POST', '/v1/organisations', { username: 'lab' })
    await owner.api('PUT', '/v1/organisations/lab/members/other', { role: 'viewer' })
    await other.api('PUT', '/v1/invitations/lab', { role: 'viewer' })
    const run = await completed({ account: 'lab' })
    const { text } = await other.get(run)
    expect(text).toContain('Not published')
    expect(text).not.toContain(`${run}/publish`)
    expect(text).not.toContain(`${run}/evaluate`)
    const form_token = await other.formToken('/runs')
    expect((await other.post(`${run}/publish`, { form_token, name: '@other/labs' })).status).toBe(403)
    expect((await owner.get(run)).text).toContain('value="@lab/pole-ppo"')
  })
})

describe('its evaluation', () => {
  it('is requested by a form, waits for a worker, and is shown', async () => {
    const run = await completed()
    const request = await owner.submit(run, `${run}/evaluate`, { episodes: '12', seed: '7' })
    expect(leadsTo(request)).toMatch(new RegExp(`^${run}\\?evaluation=[0-9a-f-]{36}#agent$`))
    const address = leadsTo(request).replace('#agent', '')
    expect((await owner.get(address)).text).toMatch(/Evaluation queued: 12 episodes, seed 7\./)
    const worker = await clientOf(site, await site.browserOf('operator'), ['worker'])
    for (;;) {
      const leased = await leaseJob(worker, { kinds: ['evaluate'] })
      if (leased?.job.kind !== 'evaluate') throw new Error('the evaluation is not among the jobs')
      const { tasks } = leased.job.evaluation
      await sendEvaluation(worker, leased.job, {
        checks: [{ id: 'golden_batch', ok: true, message: 'finite outputs' }],
        output_hash: 'd'.repeat(64),
        results: tasks.map(({ id, episodes, seed }) => ({
          id,
          evaluation: { ...goodAgent.evaluation, return_mean: 0.625, episodes, seed },
          error: null,
        })),
        runtime: { node: '24.21.0' },
      })
      if (tasks.some(({ episodes }) => episodes === 12)) break
    }
    const { text } = await owner.get(address)
    expect(text).toMatch(/0\.625.*over 12 episodes, seed 7/s)
    // What the address names of another run is not shown here.
    const another = await finished()
    expect((await owner.get(`${another}${address.slice(run.length)}`)).text).not.toContain('over 12 episodes')
  })

  it.each([
    [{ episodes: '0', seed: '1' }, 'episodes'],
    [{ episodes: '10', seed: '-1' }, 'seed'],
    [{ episodes: 'many', seed: '1' }, 'episodes'],
  ])('keeps the values if refused: %o', async (fields, field) => {
    const run = await finished()
    const refused = await owner.submit(run, `${run}/evaluate`, fields)
    expect(refused.status).toBe(422)
    expect(refused.text).toContain(`id="field-${field}-wrong"`)
  })
})

let shared: Promise<string> | undefined
/** One run for everything that leaves it as it is. */
function finished(): Promise<string> {
  shared ??= completed()
  return shared
}
