import { leaseJob, sendOutcome, sendProgress, uploadAgent } from '@agentgym/client'
import type { LeasedTraining } from '@agentgym/contract'
import { agentTarball, goodAgent } from '../../testdata/tarballs/good-agent.ts'
import type { TestSite } from './open-test-site.ts'
import { clientOf } from './publish-sampled.ts'

type Training = { worker: Awaited<ReturnType<typeof clientOf>>; job: LeasedTraining }

/** As a worker does: takes the run that waits, and tells of three iterations, the first without an episode that ended. */
export async function trainABit(site: TestSite): Promise<Training> {
  const worker = await clientOf(site, await site.browserOf('operator'), ['worker'])
  const description = {
    ...{ id: crypto.randomUUID(), name: 'test', cores: 1, memory_bytes: 1, gpus: [], slots: 1 },
    ...{ price_minor_per_hour: 0, usage: { cpu: null, memory: null, gpu: null } },
  }
  const leased = await leaseJob(worker, { kinds: ['train'], worker: description })
  if (leased?.job.kind !== 'train') throw new Error('no run waits')
  const learner = {
    ...{ policy_loss: 0.1, value_loss: 0.2, entropy: 0.3, approximate_kl: 0.01, clip_fraction: 0, gradient_norm: 1 },
    ...{ explained_variance: 0, kl_to_reference: null, zero_variance_groups: null, learning_rate: 0.001 },
  }
  const points = [null, 20, 30].map((return_mean, index) => ({
    ...{ event: 'progress' as const, iteration: index + 1, steps: 100 * (index + 1), steps_total: 5000 },
    ...{ steps_per_second: 500, seconds: index + 1, collect_seconds: 0.5, update_seconds: 0.5 },
    ...{ episodes: 1, episodes_total: index + 1, return_mean, length_mean: return_mean, metrics: {}, learner },
  }))
  await sendProgress(worker, leased.job, { points, evaluations: [], metered_ms: 3_000 })
  return { worker, job: leased.job }
}

/** The same to the run's end, with an agent that nobody has published. */
export async function trainToTheEnd(site: TestSite): Promise<void> {
  const { worker, job } = await trainABit(site)
  const integrity = await uploadAgent(worker, job, new Uint8Array(agentTarball()))
  const { evaluation } = goodAgent
  const outcome = { state: 'completed' as const, steps: 300, seconds: 3, evaluation, agent: { integrity } }
  await sendOutcome(worker, job, { outcome, meteredMs: 3_000 })
}
