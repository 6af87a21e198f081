import { createHash } from 'node:crypto'
import { leaseJob, sendEvaluation } from '@agentgym/client'
import type { TestBrowser, TestSite } from '@agentgym/testkit/site'
import { agentTarball, goodAgent } from '../../testdata/tarballs/good-agent.ts'
import { goodEntries } from '../../testdata/tarballs/good-package.ts'
import { clientOf } from './publish-sampled.ts'

const bundle = goodEntries().find(({ path }) => path === 'package/dist/scenario.js')?.body ?? ''

/** Publishes `@acme/BASE` 0.1.0, an agent for `scenario` of the same account, and runs it again as a worker that finds its claim true. */
export async function publishVerified(site: TestSite, owner: TestBrowser, base: string, scenario: string) {
  const author = await clientOf(site, owner, ['packages:read', 'packages:publish'])
  const worker = await clientOf(site, await site.browserOf('operator'), ['worker'])
  const name = `@acme/${base}`
  const levels = ['open', 'narrow'].map((level) => ({ name: level, episodes: 5, return_mean: 0.95, metrics: {} }))
  const claim = { ...goodAgent.evaluation, scenario: `${scenario}@1.0.0`, levels }
  const trained = { ...goodAgent.scenario, name: scenario, hash: createHash('sha256').update(bundle).digest('hex') }
  const agentgym = { kind: 'agent', title: 'Solver' }
  const tarball = agentTarball({ name, version: '0.1.0', agentgym }, { scenario: trained, evaluation: claim })
  await author.send(`/v1/packages/${name}/versions/0.1.0`, {
    method: 'PUT',
    body: new Uint8Array(tarball),
    headers: { 'content-type': 'application/octet-stream' },
  })
  const leased = await leaseJob(worker, { kinds: ['evaluate'] })
  if (leased?.job.kind !== 'evaluate') throw new Error('nothing is to be evaluated')
  await sendEvaluation(worker, leased.job, {
    checks: [{ id: 'golden_batch', ok: true, message: 'finite outputs' }],
    output_hash: 'd'.repeat(64),
    results: leased.job.evaluation.tasks.map(({ id, episodes, seed }) => ({
      id,
      evaluation: id === 'claim' ? claim : { ...claim, return_mean: 0.5, episodes, seed },
      error: null,
    })),
    runtime: { node: '24.21.0' },
  })
}
