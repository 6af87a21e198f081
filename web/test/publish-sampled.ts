import { createClient, leaseJob, sendResult } from '@agentgym/client'
import type { SampleEpisode, ScenarioCheck } from '@agentgym/contract'
import type { TestBrowser, TestSite } from '@agentgym/testkit/site'
import { goodTarball } from '../../testdata/tarballs/good-package.ts'

/** Publishes `@acme/BASE` 1.0.0, as a worker's check finds it with that sample episode; rejected where it does not load. */
export type PublishSampled = (
  base: string,
  sample: SampleEpisode | null,
  visibility?: string,
  loads?: boolean,
  levels?: ScenarioCheck['levels'],
) => Promise<void>

/** Signs up `acme`, which publishes, and the operator, whose worker checks. */
export async function openPublisher(site: TestSite): Promise<{ owner: TestBrowser; publish: PublishSampled }> {
  const owner = await site.browserOf('acme')
  const author = await clientOf(site, owner, ['packages:read', 'packages:publish'])
  const worker = await clientOf(site, await site.browserOf('operator'), ['worker'])
  const publish: PublishSampled = async (base, sample, visibility = 'public', loads = true, levels = undefined) => {
    const name = `@acme/${base}`
    const body = new Uint8Array(goodTarball({ name }))
    const headers = { 'content-type': 'application/octet-stream' }
    const path = `/v1/packages/${name}/versions/1.0.0?visibility=${visibility}`
    await author.send(path, { method: 'PUT', body, headers })
    const leased = await leaseJob(worker, { kinds: ['check'] })
    if (leased === undefined) throw new Error('No check waits.')
    const message = loads ? 'It loads.' : 'It does not load.'
    const checks: ScenarioCheck[] = [{ id: 'loads', ok: loads, message }]
    if (levels !== undefined) checks.push({ id: 'levels', ok: true, message: `${levels.length} levels`, levels })
    const report = { ok: loads, name, version: '1.0.0', checks }
    await sendResult(worker, leased.job, report, { sample })
    await site.settled()
  }
  return { owner, publish }
}

/** A client with a token with these scopes. */
export async function clientOf(site: TestSite, browser: TestBrowser, scopes: string[]) {
  const response = await browser.api('POST', '/v1/tokens', { name: 'test', scopes })
  const { token } = (await response.json()) as { token: string }
  return createClient({ server: site.url, token })
}
