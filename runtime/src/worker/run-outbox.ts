import { createHash } from 'node:crypto'
import {
  type CheckpointUpload,
  isRefusedByProxy,
  type RunEpisodeUpload,
  sendProgress,
  sendRunEpisode,
  sendTrajectories,
} from '@agentgym/client'
import {
  AgentGymError,
  type Evaluation,
  type ProgressEvent,
  type Trajectory,
  thinEpisodes,
  type WorkerUsage,
} from '@agentgym/contract'
import type { RunPlace } from '../training/training-loop.ts'
import type { HeldLease } from './held-lease.ts'
import type { RunMeter } from './run-meter.ts'
import type { RunUploads } from './run-uploads.ts'
import { isLost, isRefused } from './server-requests.ts'

type PlacedEvaluation = { iteration: number; steps: number; evaluation: Evaluation }

export type RunOutboxOptions = {
  lease: HeldLease
  uploads: RunUploads
  meter: RunMeter
  usage(): WorkerUsage
  /** Between two reports of a run under way; the first iteration is reported at once. */
  everyMs?: number
  /** Iterations that may wait to be reported before the outbox gives up. */
  mostPoints?: number
  onCheckpoint?(checkpoint: { iteration: number; bytes: number }): void
}

const pointsOfRequest = 500
const evaluationsOfRequest = 100
/** Numbers in the trajectories of one request: some 4 MB of JSON. Of those that wait, twice as many at most. */
const numbersOfRequest = 200_000

/**
 * Sends a run's reports to the server: in order, repeated if an answer is lost, and in bounded memory.
 *
 * A checkpoint goes only after every iteration up to it has been taken, since a run resumed from it repeats none of
 * them. One checkpoint is uploaded at a time; of those that come meanwhile the newest waits. `failure` rejects with what
 * the server refuses, and with `lease_lost`.
 */
export class RunOutbox {
  readonly failure: Promise<never>
  readonly #options: Required<Omit<RunOutboxOptions, 'onCheckpoint'>> & Pick<RunOutboxOptions, 'onCheckpoint'>
  readonly #fail: (error: unknown) => void
  #failed: { error: unknown } | undefined
  #closed = false
  #points: ProgressEvent[] = []
  #evaluations: PlacedEvaluation[] = []
  #trajectories: Trajectory[] = []
  #episodes: RunEpisodeUpload[] = []
  #takesEpisodes = true
  #checkpoint: CheckpointUpload | undefined
  #sending: Promise<void> | undefined
  #uploading: Promise<void> | undefined
  #reported = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: RunOutboxOptions) {
    this.#options = { everyMs: 1_000, mostPoints: 50_000, ...options }
    const { promise, reject } = Promise.withResolvers<never>()
    promise.catch(() => {})
    this.failure = promise
    this.#fail = reject
  }

  addPoint(point: ProgressEvent): void {
    if (this.#closed) return
    if (this.#points.length >= this.#options.mostPoints) throw tooMuch(this.#points.length)
    this.#points.push(point)
    if (this.#reported) this.#soon()
    else this.#now()
  }

  addEvaluation(evaluation: Evaluation, { iteration, steps }: RunPlace): void {
    if (this.#closed) return
    this.#evaluations.push({ iteration, steps, evaluation })
    this.#soon()
  }

  /** A sample: where too many wait, it is left out. */
  addTrajectory(trajectory: Trajectory): void {
    const fitting = cutTrajectory(trajectory)
    const waiting = this.#trajectories.reduce((sum, each) => sum + numbersIn(each), 0)
    if (this.#closed || waiting + numbersIn(fitting) > 2 * numbersOfRequest) return
    this.#trajectories.push(fitting)
    this.#soon()
  }

  /** A sample: those that wait are thinned as the server thins them. */
  addEpisode(episode: RunEpisodeUpload): void {
    if (this.#closed || !this.#takesEpisodes) return
    this.#episodes = thinEpisodes([...this.#episodes, episode])
    this.#soon()
  }

  addCheckpoint(bytes: Uint8Array, { iteration, steps, seconds }: RunPlace): void {
    if (this.#closed) return
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    this.#checkpoint = { bytes, sha256, iteration, steps, seconds, meteredMs: this.#options.meter.meteredMs }
    this.#uploading ??= this.#guarded(() => this.#uploadCheckpoints()).finally(() => {
      this.#uploading = undefined
    })
  }

  /** Sends everything queued, and resolves when the server has it. Throws what `failure` rejects with. */
  async drain(): Promise<void> {
    while (this.#hasUnsent() || this.#sending !== undefined || this.#uploading !== undefined) {
      await this.#flush()
      await this.#uploading
    }
    if (this.#failed !== undefined) throw this.#failed.error
  }

  /** Drops a waiting checkpoint: the run has ended. */
  dropCheckpoint(): void {
    this.#checkpoint = undefined
  }

  /** Drops everything queued; later additions are ignored. */
  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#points = []
    this.#evaluations = []
    this.#trajectories = []
    this.#episodes = []
    this.#checkpoint = undefined
  }

  #hasUnsent(): boolean {
    const samples = this.#trajectories.length + this.#episodes.length
    return this.#points.length + this.#evaluations.length + samples > 0
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => this.#now(), this.#options.everyMs)
  }

  #now(): void {
    void this.#flush()
  }

  /** Sends what waits now, in as many requests as it takes; what comes meanwhile waits for the next time. */
  #flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#sending ??= this.#guarded(() => this.#send()).finally(() => {
      this.#sending = undefined
      if (this.#hasUnsent() && !this.#closed) this.#soon()
    })
    return this.#sending
  }

  async #send(): Promise<void> {
    const last = this.#points.at(-1)
    // Before their evaluations, of which the server tells watchers, who then find them.
    while (this.#episodes.length > 0) await this.#sendEpisode()
    do await this.#sendBatch()
    while (last !== undefined && this.#points.length > 0 && this.#points[0].iteration <= last.iteration)
    while (this.#trajectories.length > 0) await this.#sendSample()
  }

  async #sendBatch(): Promise<void> {
    const { lease, meter, usage } = this.#options
    const points = this.#points.slice(0, pointsOfRequest)
    const all = points.length === this.#points.length
    const upTo = points.at(-1)?.iteration ?? 0
    const evaluations = this.#evaluations
      .filter(({ iteration }) => all || iteration <= upTo)
      .slice(0, evaluationsOfRequest)
    if (points.length + evaluations.length === 0) return
    this.#reported = true
    await lease.renew((signal) =>
      sendProgress(
        lease.client,
        lease.job,
        { points, evaluations, metered_ms: meter.meteredMs, usage: usage() },
        signal,
      ),
    )
    // Only now: what a lost answer leaves in doubt is sent again, and counts once.
    this.#points = this.#points.slice(points.length)
    this.#evaluations = this.#evaluations.filter((evaluation) => !evaluations.includes(evaluation))
  }

  async #sendEpisode(): Promise<void> {
    const { lease } = this.#options
    const [episode] = this.#episodes
    try {
      await lease.request((signal) => sendRunEpisode(lease.client, lease.job, episode, signal))
    } catch (error) {
      if (isLost(error) || isRefused(error)) throw error
      // A run is not lost for its samples. A server of an older release takes none.
      if (error instanceof AgentGymError && error.code === 'endpoint_not_found') this.#takesEpisodes = false
    }
    this.#episodes = this.#takesEpisodes ? this.#episodes.filter((each) => each !== episode) : []
  }

  async #sendSample(): Promise<void> {
    const { lease } = this.#options
    const batch: Trajectory[] = []
    let numbers = 0
    for (const trajectory of this.#trajectories) {
      numbers += numbersIn(trajectory)
      if (batch.length === 100 || (batch.length > 0 && numbers > numbersOfRequest)) break
      batch.push(trajectory)
    }
    try {
      await lease.request((signal) => sendTrajectories(lease.client, lease.job, batch, signal))
    } catch (error) {
      // A run is not lost for its samples: those that no proxy lets through are dropped.
      if (!isRefusedByProxy(error)) throw error
    }
    this.#trajectories = this.#trajectories.slice(batch.length)
  }

  async #uploadCheckpoints(): Promise<void> {
    const { uploads, onCheckpoint } = this.#options
    for (;;) {
      const next = this.#checkpoint
      if (next === undefined) return
      while (this.#hasUnsentUpTo(next.iteration)) await this.#flush()
      // Meanwhile a newer one may have come.
      if (this.#checkpoint !== next) continue
      this.#checkpoint = undefined
      await uploads.checkpoint(next)
      onCheckpoint?.({ iteration: next.iteration, bytes: next.bytes.length })
    }
  }

  /** Whether something up to that iteration is not acknowledged yet. */
  #hasUnsentUpTo(iteration: number): boolean {
    const first = Math.min(this.#points[0]?.iteration ?? Infinity, this.#evaluations[0]?.iteration ?? Infinity)
    return first <= iteration && !this.#closed
  }

  /** Runs `work`; its failure rejects `failure`. */
  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#failed ??= { error }
      this.#fail(error)
      this.close()
    }
  }
}

/** With as many of its first steps as a request takes. */
function cutTrajectory(trajectory: Trajectory): Trajectory {
  const [first] = trajectory.steps
  if (first === undefined) return trajectory
  const most = Math.max(1, Math.floor(numbersOfRequest / numbersOfStep(first)))
  return trajectory.steps.length <= most ? trajectory : { ...trajectory, steps: trajectory.steps.slice(0, most) }
}

function numbersIn({ steps }: Trajectory): number {
  return steps.length === 0 ? 1 : steps.length * numbersOfStep(steps[0])
}

function numbersOfStep({ observation, action }: Trajectory['steps'][number]): number {
  return observation.length + action.length + 4
}

function tooMuch(points: number): AgentGymError {
  return new AgentGymError({
    code: 'server_unreachable',
    message: `${points} iterations of the run wait to be reported: the server takes them too slowly.`,
    hint: 'The run goes on from its last checkpoint once the server keeps up.',
    data: { points },
  })
}
