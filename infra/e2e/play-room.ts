import { join } from 'node:path'
import { leaseJob, sendEvaluation, sendResult } from '@agentgym/client'
import type { PolicySpec } from '@agentgym/contract'
import { describeScenario } from '@agentgym/scenario/engine'
import type { TestSite } from '@agentgym/testkit/site'
import cartPole from '../../plugins/cart-pole/src/index.ts'
import { exportModel } from '../../runtime/src/policy/policy-graph.ts'
import { buildPolicySpec } from '../../runtime/src/policy/policy-spec.ts'
import { randomWeights, testRandom } from '../../runtime/src/policy/testing/policy-cases.ts'
import { type BuiltScenario, buildScenario } from '../../runtime/src/sandbox/build-scenario.ts'
import { agentTarball, goodAgent } from '../../testdata/tarballs/good-agent.ts'
import { goodEntries, goodManifest } from '../../testdata/tarballs/good-package.ts'
import { archive, gzip } from '../../testdata/tarballs/tar-writer.ts'
import { clientOf } from '../../web/test/publish-sampled.ts'
import { repositoryRoot } from '../checks/repository-files.ts'

/** What plays are made of: packages that are published without a worker that runs them. */
export type PlayRoom = {
  /** Publishes a built-in scenario as `@acme/PLUGIN`. */
  publishPlugin(plugin: string): Promise<BuiltScenario>
  /** Publishes `@acme/BASE` with that bundle. */
  publish(base: string, bundle: string, agentgym?: object): Promise<void>
  /** Publishes `@acme/pole`, an agent of `@acme/cart-pole` with random weights, and verifies it. */
  publishAgent(scenario: BuiltScenario): Promise<{ spec: PolicySpec; model: Uint8Array }>
}

export async function openPlayRoom(site: TestSite): Promise<PlayRoom> {
  const owner = await site.browserOf('acme')
  const author = await clientOf(site, owner, ['packages:read', 'packages:publish'])
  const worker = await clientOf(site, await site.browserOf('operator'), ['worker'])
  const upload = (path: string, bytes: Buffer) =>
    author.send(path, {
      ...{ method: 'PUT', body: new Uint8Array(bytes) },
      headers: { 'content-type': 'application/octet-stream' },
    })
  const room: PlayRoom = {
    async publish(base, bundle, agentgym = goodManifest.agentgym) {
      const name = `@acme/${base}`
      const entries = goodEntries({ name, agentgym }).map((entry) =>
        entry.path === 'package/dist/scenario.js' ? { ...entry, body: bundle } : entry,
      )
      await upload(`/v1/packages/${name}/versions/1.0.0`, gzip(archive(entries)))
      const leased = await leaseJob(worker, { kinds: ['check'] })
      if (leased === undefined) throw new Error('no check waits')
      const checks = [{ id: 'loads', ok: true, message: 'It loads.' } as const]
      await sendResult(worker, leased.job, { ok: true, name, version: '1.0.0', checks }, { sample: null })
      await site.settled()
    },
    async publishPlugin(plugin) {
      const built = await buildScenario(join(repositoryRoot, 'plugins', plugin))
      await room.publish(plugin, built.source, built.package.agentgym)
      return built
    },
    async publishAgent({ hash, package: { agentgym: trainedOn } }) {
      const { observation, action } = describeScenario(cartPole)
      const network = { hidden: [16], activation: 'tanh' as const, embedding: 4, normalizeObservation: true }
      const spec = buildPolicySpec({ observation, action }, network)
      const model = exportModel(spec, randomWeights(spec, testRandom(7)))
      const success = trainedOn.success ?? {}
      const scenario = { ...goodAgent.scenario, name: '@acme/cart-pole', hash, observation, action, success }
      const criteria = Object.entries(success).map(([metric, target]) => ({ metric, target, value: 0.95, ok: false }))
      const claim = { ...goodAgent.evaluation, scenario: '@acme/cart-pole@1.0.0', success: { ok: false, criteria } }
      const agentgym = { kind: 'agent', title: 'Pole' }
      const fields = { scenario, policy: spec, evaluation: claim }
      const name = '@acme/pole'
      await upload(
        `/v1/packages/${name}/versions/0.1.0`,
        agentTarball({ name, version: '0.1.0', agentgym }, fields, Buffer.from(model)),
      )
      const leased = await leaseJob(worker, { kinds: ['evaluate'] })
      if (leased?.job.kind !== 'evaluate') throw new Error('nothing is to be evaluated')
      await sendEvaluation(worker, leased.job, {
        checks: [{ id: 'golden_batch', ok: true, message: 'finite outputs' }],
        output_hash: 'd'.repeat(64),
        results: leased.job.evaluation.tasks.map(({ id, episodes, seed }) => ({
          ...{ id, error: null },
          evaluation: id === 'claim' ? claim : { ...claim, return_mean: 0.5, episodes, seed },
        })),
        runtime: { node: '24.21.0' },
      })
      await site.settled()
      return { spec, model }
    },
  }
  return room
}
