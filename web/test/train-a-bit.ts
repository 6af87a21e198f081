import { leaseJob, sendOutcome, sendProgress, sendRunEpisode, uploadAgent } from '@agentgym/client'
import type { LeasedTraining } from '@agentgym/contract'
import type { TestSite } from '@agentgym/testkit/site'
import { sampleEpisode } from '../../testdata/episodes/sample-episode.ts'
import { agentTarball, goodAgent } from '../../testdata/tarballs/good-agent.ts'
import { clientOf } from './publish-sampled.ts'

type Training = {
  worker: Awaited<ReturnType<typeof clientOf>>
  job: LeasedTraining
  /** Tells of one iteration more. */
  tell(iteration: number, returnMean: number): Promise<void>
  /** Sends an episode, and the evaluation that it is of. */
  evaluate(iteration: number, episodeReturn: number): Promise<void>
}

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
  const pointOf = (iteration: number, return_mean: number | null) => ({
    ...{ event: 'progress' as const, iteration, steps: 100 * iteration, steps_total: 5000 },
    ...{ steps_per_second: 500, seconds: iteration, collect_seconds: 0.5, update_seconds: 0.5 },
    ...{ episodes: 1, episodes_total: iteration, return_mean, length_mean: return_mean, metrics: {}, learner },
  })
  const { job } = leased
  const points = [null, 20, 30].map((returnMean, index) => pointOf(index + 1, returnMean))
  await sendProgress(worker, job, { points, evaluations: [], metered_ms: 3_000 })
  const evaluate = async (iteration: number, episodeReturn: number) => {
    const steps = 100 * iteration
    const episode = sampleEpisode({ policy: 'agent' })
    await sendRunEpisode(worker, job, { iteration, steps, return: episodeReturn, length: 2, episode })
    const evaluations = [{ iteration, steps, evaluation: goodAgent.evaluation }]
    await sendProgress(worker, job, { points: [], evaluations, metered_ms: 3_000 })
  }
  const tell = async (iteration: number, returnMean: number) => {
    const metered_ms = 1_000 * iteration
    await sendProgress(worker, job, { points: [pointOf(iteration, returnMean)], evaluations: [], metered_ms })
  }
  return { worker, job, tell, evaluate }
}

/** The same to the run's end, with an unpublished agent. */
export async function trainToTheEnd(site: TestSite): Promise<void> {
  const { worker, job, evaluate } = await trainABit(site)
  await evaluate(2, 20)
  await evaluate(3, 30.5)
  const integrity = await uploadAgent(worker, job, new Uint8Array(agentTarball()))
  const { evaluation } = goodAgent
  const outcome = { state: 'completed' as const, steps: 300, seconds: 3, evaluation, agent: { integrity } }
  await sendOutcome(worker, job, { outcome, meteredMs: 3_000 })
}
