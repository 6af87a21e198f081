import { sendReplay } from '@agentgym/client'
import { AgentGymError, keptEpisodeLimits, type LeasedReplay, type ReplayResultRequest } from '@agentgym/contract'
import { type ReplayOptions, replayActions } from '../playing/replay-actions.ts'
import { hasDied, publicReport } from './failure-report.ts'
import { type JobContext, releaseLease } from './job-context.ts'
import { inFolder, obtainScenario } from './obtain-package.ts'
import { nameOf, type WorkerEvent } from './worker-event.ts'

type Result = Omit<ReplayResultRequest, 'lease'>

/** Plays the actions of a person's episode again and sends what they gave. */
export async function doReplay(job: LeasedReplay, context: JobContext): Promise<WorkerEvent> {
  const { lease, stop, limits } = context
  const { scenario: wanted, seed, episode, actions } = job.replay
  const signal = AbortSignal.any([stop, lease.lost])
  try {
    const result = await inFolder(async (folder) => {
      const scenario = await obtainScenario(lease, wanted, folder)
      return replayTwice({ scenario, seed, episode, actions, limits, signal }, folder)
    })
    await lease.request((within) => sendReplay(lease.client, job, result, within))
    const failed = result.error === null ? [] : [result.error.code]
    return { event: 'finished', ...nameOf(job), ok: failed.length === 0, failed }
  } catch (error) {
    if (stop.aborted && !lease.lost.aborted) return releaseLease(context)
    throw error
  }
}

/** A failure is the result; only a process that died is replayed once more: the machine may be to blame. */
async function replayTwice(options: ReplayOptions, folder: string): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      const episode = await replayActions(options)
      const metrics = Object.fromEntries(Object.entries(episode.metrics).slice(0, keptEpisodeLimits.metrics))
      return { episode: { ...episode, metrics }, error: null }
    } catch (error) {
      if (options.signal?.aborted || !(error instanceof AgentGymError)) throw error
      if (attempt === 1 && hasDied(error)) continue
      return { episode: null, error: publicReport(error, [folder]) }
    }
  }
}
