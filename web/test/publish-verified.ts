import { createHash } from 'node:crypto'
import { leaseJob, sendEvaluation } from '@agentgym/client'
import {
  type Calibration,
  type Comparison,
  type Evaluation,
  reliabilityOf,
  type SampleEpisode,
} from '@agentgym/contract'
import type { TestBrowser, TestSite } from '@agentgym/testkit/site'
import { agentTarball, goodAgent } from '../../testdata/tarballs/good-agent.ts'
import { goodEntries } from '../../testdata/tarballs/good-package.ts'
import { clientOf } from './publish-sampled.ts'

const bundle = goodEntries().find(({ path }) => path === 'package/dist/scenario.js')?.body ?? ''

/** Chances predicted for some choices, and how many of these were right. */
type Predicted = [chance: number, choices: number, right: number][]

function calibrationOf(confident: Predicted, raw: Predicted): Calibration {
  const made = (predicted: Predicted) =>
    predicted.flatMap(([chance, choices, right]) =>
      Array.from({ length: choices }, (_, i) => ({ predicted: chance, succeeded: i < right })),
    )
  const [confidence, probability] = [reliabilityOf(made(confident)), reliabilityOf(made(raw))]
  return {
    choices: made(raw).length,
    succeeded: made(raw).filter(({ succeeded }) => succeeded).length,
    probability,
    confidence,
  }
}

const calibration = calibrationOf(
  [
    [0.62, 40, 26],
    [0.76, 60, 45],
    [0.87, 200, 171],
    [0.93, 700, 651],
  ],
  [
    [0.45, 40, 26],
    [0.73, 60, 45],
    [0.9, 200, 171],
    [1, 700, 651],
  ],
)

const baselines: Evaluation['baselines'] = [
  { player: 'random', return_mean: -3.5, length_mean: 9, metrics: { solved: 0.07 }, success: false },
  { player: 'rules', return_mean: 0.4, length_mean: 8, metrics: { solved: 0.81 }, success: false },
]

/** As its publisher measured it. */
const comparison: Comparison = {
  ...{ episodes: 50, seed: 0, processor: 'AMD EPYC 9R14', core_price: 0.05 },
  language_model: {
    ...{ name: 'SmolLM2-135M', sha256: 'b'.repeat(64), engine: 'node-llama-cpp 3.22.1', tokens_per_decision: 91.2 },
  },
  players: [
    ['agent', 0.021, 0.93],
    ['random', 0.0021, 0.06],
    ['rules', 0.008, 0.8],
    ['language_model', 163, 0.06],
  ].map(([player, decision_ms, share]) => ({
    ...{ player: player as Comparison['players'][number]['player'], decisions: 400, decision_ms: Number(decision_ms) },
    ...{ return_mean: -3.1, return_interval: [-3.4, -2.8] as [number, number], success: false },
    solved: { share: Number(share), interval: [0.02, 0.16] as [number, number] },
  })),
}

/** What the worker saw beside the evaluations. */
type Seen = {
  /** Return of a held-out episode. */
  returnOf?: (episode: number) => number
  sample?: SampleEpisode
}

/** Publishes `@acme/BASE` 0.1.0, an agent for `scenario` of the same account, and runs it again as a worker that finds its claim true. */
export async function publishVerified(
  site: TestSite,
  owner: TestBrowser,
  base: string,
  scenario: string,
  { returnOf, sample }: Seen = {},
) {
  const author = await clientOf(site, owner, ['packages:read', 'packages:publish'])
  const worker = await clientOf(site, await site.browserOf('operator'), ['worker'])
  const name = `@acme/${base}`
  const levels = ['open', 'narrow'].map((level) => ({ name: level, episodes: 5, return_mean: 0.95, metrics: {} }))
  const claim = { ...goodAgent.evaluation, scenario: `${scenario}@1.0.0`, levels, calibration, baselines }
  const trained = { ...goodAgent.scenario, name: scenario, hash: createHash('sha256').update(bundle).digest('hex') }
  const agentgym = { kind: 'agent', title: 'Solver' }
  const tarball = agentTarball(
    { name, version: '0.1.0', agentgym },
    {
      ...{ scenario: trained, evaluation: claim, comparison },
    },
  )
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
      ...(id === 'held_out' && returnOf !== undefined
        ? { episode_returns: Array.from({ length: episodes }, (_, episode) => returnOf(episode)) }
        : {}),
    })),
    sample_episode: sample ?? null,
    runtime: { node: '24.21.0' },
  })
}
