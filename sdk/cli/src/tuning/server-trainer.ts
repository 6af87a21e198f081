import { watchRun } from '@agentgym/client'
import {
  AgentGymError,
  type Evaluation,
  type Run,
  type RunEvent,
  type StartRunRequest,
  studyNote,
} from '@agentgym/contract'
import type { Connection } from '../account/connection.ts'
import { clientOf, explained, idempotencyKey } from '../registry/call-api.ts'
import { hasEnded, pauseRun, readRun, resumeRun, startRun } from '../runs/run-api.ts'
import { failureOf } from '../runs/watch-run-here.ts'
import { candidatesOwn } from './run-study.ts'
import type { RemoteStudy, Study } from './study-folder.ts'
import type { CandidateJob, StudyTrainer, TrainedJob, WholeJob } from './study-trainer.ts'

/** Runs of one candidate that were canceled or failed without its fault, at most; the next one then starts over. */
const mostRestarts = 20

/**
 * Trains the jobs of a study on the server's workers. A candidate is one run, which pauses at each rung and is resumed when
 * the candidate is promoted: a price per run is paid once. Runs have idempotency keys of study and candidate, so that a
 * study that was killed finds its runs again.
 */
export class ServerTrainer implements StudyTrainer {
  readonly #connection: Connection
  readonly #study: Study
  readonly #remote: RemoteStudy
  readonly #signal: AbortSignal
  readonly #closed = new AbortController()
  readonly #jobs = new Set<Promise<unknown>>()
  /** IDs of runs that a worker has or will get. */
  readonly #open = new Set<string>()

  constructor(
    connection: Connection,
    { study, remote, signal }: { study: Study; remote: RemoteStudy; signal: AbortSignal },
  ) {
    this.#connection = connection
    this.#study = study
    this.#remote = remote
    this.#signal = AbortSignal.any([signal, this.#closed.signal])
  }

  async candidate({ candidate, from, steps, plan, onProgress }: CandidateJob) {
    const { seed, rungs } = this.#study
    const request = { ...this.#request(plan, `candidate ${candidate}`), seed, pause_at: rungs[0] }
    const part = new TrainedPart({ from, steps })
    const trained = await this.#tracked(this.#train(request, ['candidate', candidate], part, onProgress))
    return { ...trained, checkpoint: null }
  }

  whole({ arm, candidate, seed, plan, onProgress }: WholeJob): Promise<TrainedJob> {
    const request = { ...this.#request(plan, `${arm} settings, seed ${seed}`), seed }
    const part = new TrainedPart({ from: 0, steps: null })
    return this.#tracked(this.#train(request, [arm, candidate, seed], part, onProgress))
  }

  /** Pauses the runs that are queued or in training. They go on when the study does. */
  async close(): Promise<void> {
    this.#closed.abort()
    await Promise.allSettled(this.#jobs)
    await Promise.allSettled([...this.#open].map((id) => pauseRun(this.#connection, id)))
  }

  #request({ algorithm, settings }: CandidateJob['plan'], what: string): StartRunRequest {
    const { name, version } = this.#study.scenario
    const { id, account, budget_minor, price } = this.#remote
    return {
      scenario: `${name}@${version}`,
      algorithm,
      settings: settings as StartRunRequest['settings'],
      note: studyNote(id, what),
      account: account ?? undefined,
      budget_minor: budget_minor ?? undefined,
      expected_price: price ?? undefined,
    }
  }

  #tracked<Result>(job: Promise<Result>): Promise<Result> {
    this.#jobs.add(job)
    const end = () => void this.#jobs.delete(job)
    job.then(end, end)
    return job
  }

  async #train(
    request: StartRunRequest,
    words: (string | number)[],
    part: TrainedPart,
    onProgress: CandidateJob['onProgress'],
  ): Promise<TrainedJob> {
    try {
      return await this.#trainRun(await this.#start(request, words), part, onProgress)
    } catch (error) {
      if (!this.#signal.aborted) throw error
      throw new AgentGymError(
        { code: 'training_cancelled', message: 'the study was stopped; its runs on the server are paused' },
        { cause: error },
      )
    }
  }

  /** The run of those words: the one that an earlier attempt of the study started, if it can still come to a result. */
  async #start(request: StartRunRequest, words: (string | number)[]): Promise<Run> {
    for (let restart = 0; ; restart++) {
      this.#signal.throwIfAborted()
      const key = idempotencyKey('tune', this.#remote.id, ...words, restart)
      const run = await startRun(this.#connection, request, key)
      const lost = run.state === 'cancelled' || (run.state === 'failed' && !isOwnFailure(run))
      if (lost && restart < mostRestarts) continue
      if (!hasEnded(run)) this.#open.add(run.id)
      return run
    }
  }

  async #trainRun(started: Run, part: TrainedPart, onProgress: CandidateJob['onProgress']): Promise<TrainedJob> {
    const { id } = started
    let seen = 0
    for (let run = started; ; ) {
      await explained(this.#connection, async () => {
        for await (const event of watchRun(clientOf(this.#connection), id, { after: seen, signal: this.#signal })) {
          seen = event.seq
          part.take(event)
          if (event.type === 'progress') onProgress(event.data.steps)
          // A run that is resumed later pauses more than once.
          if (event.type === 'paused' || part.result !== null) break
        }
      })
      run = await readRun(this.#connection, id, this.#signal)
      if (hasEnded(run)) this.#open.delete(id)
      if (part.result !== null && hasEnded(run)) return part.result
      if (seen < run.last_event || !hasEnded(run)) continue
      if (run.state !== 'paused') throw failureOf(run)
      this.#open.add(id)
      await resumeRun(this.#connection, id, part.steps === null ? {} : { pause_at: part.steps })
    }
  }
}

/** What a run tells of one job: its events after `from` steps up to `steps`, or to the run's end. */
export class TrainedPart {
  readonly steps: number | null
  readonly #from: number
  #begun: boolean
  /** The iteration at which the job ends, once the run has reached it. */
  #end: number | null = null
  #sum = 0
  #count = 0
  #evaluation: Evaluation | null = null

  constructor({ from, steps }: { from: number; steps: number | null }) {
    this.steps = steps
    this.#from = from
    this.#begun = from === 0
  }

  /** Null until the evaluation at the job's end. */
  get result(): TrainedJob | null {
    if (this.#evaluation === null) return null
    return { evaluation: this.#evaluation, meanReturn: this.#count === 0 ? null : this.#sum / this.#count }
  }

  /** Takes the run's events in order, from the first one. */
  take(event: RunEvent): void {
    if (event.type === 'progress') this.#iteration(event.data)
    else if (event.type === 'evaluation' && event.data.iteration === this.#end) this.#evaluation = event.data.evaluation
    else if (event.type === 'completed' && this.steps === null) this.#evaluation = event.data.evaluation
  }

  #iteration({
    iteration,
    steps,
    steps_total: total,
    return_mean: mean,
  }: Extract<RunEvent, { type: 'progress' }>['data']) {
    if (this.#end !== null) return
    if (!this.#begun) {
      // This iteration is the last of the job before.
      this.#begun = steps >= this.#from
      return
    }
    if (mean !== null) {
      this.#sum += mean
      this.#count += 1
    }
    if (this.steps !== null && (steps >= this.steps || steps >= total)) this.#end = iteration
  }
}

function isOwnFailure({ error }: Run): boolean {
  return error !== null && candidatesOwn.includes(error.code)
}
