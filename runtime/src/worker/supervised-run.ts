import {
  AgentGymError,
  evaluationSchema,
  type LeasedTraining,
  progressEventSchema,
  runEpisodeRequestSchema,
  type TrainingPlan,
  trajectorySchema,
} from '@agentgym/contract'
import type { BuiltScenario } from '../sandbox/build-scenario.ts'
import { type ScenarioCode, scenarioCode } from '../sandbox/scenario-code.ts'
import type { SampledEpisode } from '../training/held-out-evaluations.ts'
import { type RunTrainingOptions, runTraining } from '../training/run-training.ts'
import type { TrainingOutcome } from '../training/training-job.ts'
import type { RunPlace } from '../training/training-loop.ts'
import type { WarmStart } from '../training/warm-start.ts'
import { hasDied, publicReport, wasKilled } from './failure-report.ts'
import { togetherOf } from './gang.ts'
import type { JobContext, RunBegin } from './job-context.ts'
import type { RunMeter } from './run-meter.ts'
import type { RunOutbox } from './run-outbox.ts'
import type { RunUploads } from './run-uploads.ts'
import { nameOf } from './worker-event.ts'

export type RunContext = JobContext & { meter: RunMeter; uploads: RunUploads; outbox: RunOutbox; folder: string }

export type StopReason = 'cancel' | 'budget' | 'pause' | 'release'

/** Deaths of the trainer without an iteration beyond the last one's: of a crash, and of a SIGKILL, which may be anything's. */
const mostDeaths = { crash: 2, killed: 5 }
const progressEventMs = 5_000
const checkpointBytes = 2 ** 30
const runEpisodeSchema = runEpisodeRequestSchema.omit({ lease: true })

/**
 * One attempt at a run: the trainer in its supervised process, restarted from the last checkpoint where that process dies
 * of something that need not happen again. Passes on what the trainer sends, once it is of the right form and in order:
 * the process may have been taken over.
 */
export class SupervisedRun {
  readonly #job: LeasedTraining
  readonly #context: RunContext
  readonly #scenario: BuiltScenario
  readonly #plan: TrainingPlan
  readonly #start: WarmStart | null
  readonly #stop = new AbortController()
  /** The last checkpoint, and the metered time then. */
  #checkpoint: { bytes: Uint8Array | null; iteration: number; steps: number; meteredMs: number }
  /** What the trainer under way has done, and what was ever passed on. */
  #iteration: number
  #reported: number
  #evaluated: number
  #sampled = -1
  #deaths = { iteration: -1, count: 0 }
  #overBudget = false
  #paused = false
  #progressAt = Number.NEGATIVE_INFINITY

  constructor(job: LeasedTraining, context: RunContext, begin: RunBegin) {
    this.#job = job
    this.#context = context
    this.#scenario = begin.scenario
    this.#plan = begin.plan
    this.#start = begin.start
    const { iteration, steps } = job.run.checkpoint ?? { iteration: 0, steps: 0 }
    this.#checkpoint = { bytes: begin.checkpoint, iteration, steps, meteredMs: 0 }
    this.#iteration = iteration
    this.#reported = iteration
    // A run that starts from an agent evaluates it before the first iteration.
    this.#evaluated = begin.checkpoint === null ? -1 : iteration
    const ends = AbortSignal.any([context.lease.stop, context.stop])
    if (ends.aborted) this.#stop.abort()
    ends.addEventListener('abort', () => this.#stop.abort(), { once: true })
  }

  /** Why the run is to stop; a cancellation goes first, and then what it has reached. */
  get stopReason(): StopReason {
    const { lease } = this.#context
    if (lease.stopReason !== 'cancel' && this.#isAtPause) return 'pause'
    return lease.stopReason ?? (this.#overBudget ? 'budget' : 'release')
  }

  /** Whether the trainer has paused where the run is to pause: it was evaluated, and its checkpoint is of then. */
  get #isAtPause(): boolean {
    const { pause_at: pauseAt } = this.#job.run
    return pauseAt !== null && (this.#paused || this.#checkpoint.steps >= pauseAt)
  }

  /** Null: stopped for `stopReason`. Throws what the run fails with, `lease_lost`, and what the server refused. */
  async train(): Promise<TrainingOutcome> {
    const code = await scenarioCode(this.#scenario)
    for (;;) {
      this.#checkBudget()
      if (this.#stop.signal.aborted || this.#isAtPause) return null
      try {
        return await this.#trainOnce(code)
      } catch (error) {
        // Others would have to begin again with it.
        if (this.#job.run.gang) throw error
        if (!(error instanceof AgentGymError) || !this.#mayRestart(error)) throw error
        this.#restart(error)
      }
    }
  }

  async #trainOnce(scenario: ScenarioCode): Promise<TrainingOutcome> {
    const { lease, meter, outbox, limits, gpus } = this.#context
    const { run } = this.#job
    const refused = new AbortController()
    outbox.failure.catch(() => refused.abort())
    meter.start()
    try {
      const outcome = await runTraining({
        scenario,
        success: this.#scenario.package.agentgym.success,
        plan: this.#plan,
        seed: run.seed,
        checkpoint: this.#checkpoint.bytes,
        start: this.#start,
        everyIteration: true,
        pauseAt: run.pause_at ?? undefined,
        sample: { view: this.#scenario.package.agentgym.view ?? null },
        trajectories: run.trajectories_every === 0 ? null : { every: run.trajectories_every },
        ...this.#handlers(),
        stop: this.#stop.signal,
        signal: AbortSignal.any([lease.lost, refused.signal]),
        ...{ limits, gpus, together: togetherOf(run.gang) },
      })
      // Of several workers, another may be stopping.
      if (outcome === null && !this.#stop.signal.aborted && !run.gang) {
        if (run.pause_at === null) throw invalidMessage('no result')
        this.#paused = true
      }
      return outcome
    } catch (error) {
      // It was killed because the server takes nothing more: that is what happened, not the killing.
      if (refused.signal.aborted) await outbox.failure
      throw error
    } finally {
      meter.stop()
    }
  }

  #handlers(): Pick<RunTrainingOptions, 'onProgress' | 'onEvaluation' | 'onSample' | 'onCheckpoint' | 'onTrajectory'> {
    const { outbox, meter, trace } = this.#context
    return {
      onProgress: (event) => {
        const point = expected(progressEventSchema.safeParse(event))
        if (point.iteration !== this.#iteration + 1) throw invalidMessage('an iteration out of order')
        this.#iteration = point.iteration
        this.#checkBudget()
        // A trainer that was restarted repeats iterations, bit for bit: the server has them.
        if (point.iteration <= this.#reported) return
        this.#reported = point.iteration
        outbox.addPoint(point)
        trace.iteration(point)
        this.#report(point)
      },
      onEvaluation: (evaluation, place, sampled) => {
        const at = this.#placed(place)
        if (at.iteration <= this.#evaluated) return
        this.#evaluated = at.iteration
        outbox.addEvaluation(expected(evaluationSchema.safeParse(evaluation)), at)
        if (sampled !== null) this.#addEpisode(sampled, at)
      },
      onSample: (sampled, place) => {
        if (place.iteration <= this.#iteration && place.iteration > this.#sampled) this.#addEpisode(sampled, place)
      },
      onCheckpoint: (bytes, place) => {
        if (!(bytes instanceof Uint8Array) || bytes.length > checkpointBytes)
          throw invalidMessage('an invalid checkpoint')
        const at = this.#placed(place)
        this.#checkpoint = { bytes, iteration: at.iteration, steps: at.steps, meteredMs: meter.meteredMs }
        outbox.addCheckpoint(bytes, at)
      },
      onTrajectory: (trajectory) => outbox.addTrajectory(expected(trajectorySchema.safeParse(trajectory))),
    }
  }

  /** A run is not ended for a picture: what the server would refuse is left out. */
  #addEpisode(sampled: SampledEpisode, { iteration, steps }: RunPlace): void {
    const episode = runEpisodeSchema.safeParse({ ...sampled, iteration, steps })
    if (!episode.success) return
    this.#sampled = episode.data.iteration
    this.#context.outbox.addEpisode(episode.data)
  }

  #placed({ iteration, steps, seconds }: RunPlace): RunPlace {
    const sound = Number.isSafeInteger(steps) && steps >= 0 && Number.isFinite(seconds) && seconds >= 0
    if (iteration !== this.#iteration || !sound) throw invalidMessage('a message of another iteration')
    return { iteration, steps, seconds }
  }

  #checkBudget(): void {
    if (!this.#context.meter.budgetUsed) return
    this.#overBudget = true
    this.#stop.abort()
  }

  /** Whether the trainer's process died, of something that another try may not meet. */
  #mayRestart(error: AgentGymError): boolean {
    if (!hasDied(error) || this.#context.lease.lost.aborted) return false
    if (this.#iteration > this.#deaths.iteration) this.#deaths = { iteration: this.#iteration, count: 0 }
    this.#deaths.count += 1
    return this.#deaths.count < (wasKilled(error) ? mostDeaths.killed : mostDeaths.crash)
  }

  #restart(error: AgentGymError): void {
    const { meter, onEvent } = this.#context
    const { iteration, meteredMs } = this.#checkpoint
    meter.rewindTo(meteredMs)
    this.#iteration = iteration
    onEvent({ event: 'restarted', error: publicReport(error), iteration, ...nameOf(this.#job) })
  }

  #report({ iteration, steps, steps_total, return_mean }: Parameters<RunTrainingOptions['onProgress']>[0]): void {
    if (performance.now() - this.#progressAt < progressEventMs) return
    this.#progressAt = performance.now()
    this.#context.onEvent({ event: 'progress', iteration, steps, steps_total, return_mean, ...nameOf(this.#job) })
  }
}

function expected<Value>(parsed: { success: true; data: Value } | { success: false }): Value {
  if (parsed.success) return parsed.data
  throw invalidMessage('an invalid message')
}

function invalidMessage(what: string): AgentGymError {
  return new AgentGymError({
    code: 'training_failed',
    message: `The trainer's process sent ${what} and was ended.`,
    hint: 'Treat the scenario as hostile: it may have taken over its process.',
  })
}
