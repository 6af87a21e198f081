import type { ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { encoderSources, obtainEncoder, type TextEncoderName } from '@agentgym/agent/engine'
import { AgentGymError, type ErrorReport, errorCatalog } from '@agentgym/contract'
import { jobFile } from './job-bundle.ts'
import { jobCommand } from './job-command.ts'
import { readProcessMemoryMb } from './job-memory.ts'
import { BEAT_MS, type FromJob, type ToJob, toReport } from './job-process.ts'
import { explainExit, explainHang, explainMemory, JobWatch } from './job-watch.ts'
import { type JobLimits, withDefaults } from './limits.ts'
import { OutputTail } from './output-tail.ts'
import { type StartedJob, startJob } from './start-job.ts'
import type { ScenarioIdentity } from './vector-environment.ts'

export type SupervisedJob = {
  /** A .ts file that calls `serveJob`. */
  entry: URL
  /** Structured-clonable. */
  job: unknown
  /** Names the scenario in errors. */
  identity: ScenarioIdentity
  limits?: Partial<JobLimits>
  /** Kills the job; it then fails with `training_cancelled`. */
  signal?: AbortSignal
  /** Requests a graceful end (`channel.stopRequested()`); what the job then returns is the result. */
  stop?: AbortSignal
  /**
   * Takes what the job sends, one message after another. What it throws (a full disk, say) ends the job with that error.
   */
  onMessage?: (message: unknown) => void | Promise<void>
  /** Called once, with what sends structured-clonable data to the job's `onMessage`, for as long as it runs. */
  onStart?: (send: (message: unknown) => void) => void
  /**
   * Leaves the network open to it: for a job that runs no guest code and speaks to a process of the user's. Every other wall
   * stands.
   */
  network?: boolean
  /**
   * Folders and files beside our own code that a job without guest code loads code and data from, until `lockDown`. It may start
   * processes of its own, behind the same walls.
   */
  library?: readonly string[]
  /** A descriptor of memory that it shares with other jobs of the same run; see `descriptors`. */
  memory?: number
  /** Runs it with a larger stack and twice the heap for guests: results must not depend on either. */
  otherSizes?: boolean
  /** The whole environment of the process beside TZ; nothing of ours is inherited. */
  environment?: Record<string, string>
}

const TAIL_BYTES = 65_536
/** How long the end of a process that takes no message is waited for. */
const ENDING_MS = 2_000
/** The range from which each job of root takes a uid of its own; no account lies there. */
const FIRST_JOB_UID = 1_600_000_000
const JOB_UIDS = 2 ** 28

/**
 * Runs one job in a process of its own and watches it: no progress within its limits, or more memory than it may use,
 * and it is killed. Whatever the scenario does, this settles. Rejects with an AgentGymError: `scenario_timeout`,
 * `scenario_out_of_memory`, `scenario_crashed`, `training_cancelled`, `training_failed` or what the job itself reported.
 */
export async function superviseJob(options: SupervisedJob): Promise<unknown> {
  const limits = limitsOf(options)
  // Empty, ours alone, and gone afterwards: a model loaded from bytes can read files below its working folder.
  const folder = mkdtempSync(path.join(tmpdir(), 'agentgym-job-'))
  try {
    const { otherSizes, network, library } = options
    const command = await jobCommand(await jobFile(fileURLToPath(options.entry)), folder, {
      ...{ otherSizes, network, library },
    })
    if (options.signal?.aborted) throw cancelled()
    const job = startJob(command, folder, options.environment ?? {}, options.memory)
    // A supervisor that is ended at once, as by a second Ctrl-C, must not leave a job that is deep in an update behind.
    const end = () => {
      job.kill()
      rmSync(folder, { recursive: true, force: true })
    }
    process.once('exit', end)
    try {
      return await watchJob(job, options, limits)
    } finally {
      process.off('exit', end)
      job.kill()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function limitsOf({ limits, otherSizes }: SupervisedJob): JobLimits {
  const usual = withDefaults(limits)
  return otherSizes ? { ...usual, isolateMemoryMb: 2 * usual.isolateMemoryMb } : usual
}

type Outcome = { result: unknown } | { error: unknown }

async function watchJob(job: StartedJob, options: SupervisedJob, limits: JobLimits): Promise<unknown> {
  const { identity, signal } = options
  const { child } = job
  const watch = new JobWatch(limits)
  const output = captureOutput(child)
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const abort = () => resolve({ error: cancelled() })
  signal?.addEventListener('abort', abort)
  child.on('error', (error) => resolve({ error: notStarted(error) }))
  // Not `exit`: messages that it sent before its end may still be on their way.
  child.on('close', (code, exitSignal) =>
    resolve({ error: explainExit(identity, watch, output, ...job.ending(code, exitSignal)) }),
  )
  const send = (message: ToJob) => {
    // A job that is ending has closed the channel.
    if (child.connected) child.send(message, () => {})
  }
  child.on('message', receiver(watch, { onMessage: options.onMessage, onEncoder: encoderAnswers(send) }, resolve))
  const group = await job.confine(limits.processMemoryMb)
  const user = FIRST_JOB_UID + randomInt(JOB_UIDS)
  const toJob: ToJob = { kind: 'job', job: options.job, limits, user }
  if (child.connected)
    child.send(toJob, (error) => {
      // A process that has just ended takes nothing either: its end, which says more, is a moment away.
      if (error !== null) setTimeout(() => resolve({ error: notStarted(error) }), ENDING_MS).unref()
    })
  options.onStart?.((message) => send({ kind: 'message', message }))
  const askToStop = () => send({ kind: 'stop' })
  if (options.stop?.aborted) askToStop()
  options.stop?.addEventListener('abort', askToStop)
  const timer = setInterval(async () => {
    watch.tick()
    const hang = watch.hang()
    if (hang !== undefined) return resolve({ error: explainHang(identity, hang, output) })
    const pid = job.pid()
    const memoryMb = pid === undefined ? undefined : await readProcessMemoryMb(pid)
    if (memoryMb === undefined || memoryMb <= limits.processMemoryMb) return
    resolve({ error: explainMemory(identity, watch, memoryMb, limits, output) })
  }, BEAT_MS)
  const outcome = await promise
  clearInterval(timer)
  signal?.removeEventListener('abort', abort)
  options.stop?.removeEventListener('abort', askToStop)
  await job.killed()
  group?.remove()
  if ('error' in outcome) throw outcome.error
  return outcome.result
}

/** Handles what the job sends; `onMessage` sees messages one at a time, and all of them before the result counts. */
function receiver(
  watch: JobWatch,
  { onMessage, onEncoder }: Pick<SupervisedJob, 'onMessage'> & { onEncoder: (name: unknown) => void },
  settle: (outcome: Outcome) => void,
) {
  let handled: Promise<void> = Promise.resolve()
  const after = (next: () => void | Promise<void>) => {
    handled = handled.then(next)
    handled.catch((error) => settle({ error }))
  }
  const receive = (message: FromJob) => {
    switch (message.kind) {
      case 'beat':
        return watch.beat(message.boards, message.progress)
      case 'message':
        return after(() => onMessage?.(message.message))
      case 'encoder':
        return onEncoder(message.name)
      case 'result':
        return after(() => settle({ result: message.result }))
      case 'error':
        return after(() => settle({ error: fromReport(message.report) }))
    }
  }
  return (received: unknown) => {
    watch.heard()
    try {
      receive(received as FromJob)
    } catch {
      // Not what serveJob sends: the process no longer runs our code.
      settle({ error: unreadable() })
    }
  }
}

/** Obtains the encoders that the job requests, each once: it may be a stranger's by now. */
function encoderAnswers(send: (message: ToJob) => void): (name: unknown) => void {
  const requested = new Set<unknown>()
  return (received) => {
    if (requested.has(received) || !Object.hasOwn(encoderSources, String(received))) return
    requested.add(received)
    const name = received as TextEncoderName
    obtainEncoder(name).then(
      (files) => send({ kind: 'encoder', name, answer: { files } }),
      (error) => send({ kind: 'encoder', name, answer: { report: toReport(error) } }),
    )
  }
}

/** The job's own report, held to the catalog: its process may have been taken over. */
function fromReport(report: ErrorReport): AgentGymError {
  if (typeof report?.message === 'string' && Object.hasOwn(errorCatalog, report.code)) return new AgentGymError(report)
  return unreadable()
}

function unreadable(): AgentGymError {
  return new AgentGymError({
    code: 'training_failed',
    message: "The job's process sent an unreadable message and was ended.",
    hint: 'Treat the scenario as hostile: it may have taken over its process.',
  })
}

function captureOutput(child: ChildProcess): OutputTail {
  const tail = new OutputTail(TAIL_BYTES)
  child.stdout?.on('data', (chunk: Buffer) => tail.push(chunk))
  child.stderr?.on('data', (chunk: Buffer) => tail.push(chunk))
  return tail
}

function notStarted(error: Error): AgentGymError {
  return new AgentGymError(
    {
      code: 'training_failed',
      message: `The job's process could not be started: ${error.message}.`,
      data: { not_started: true },
    },
    { cause: error },
  )
}

function cancelled(): AgentGymError {
  return new AgentGymError({ code: 'training_cancelled', message: 'The job was cancelled.' })
}

/** Libraries that bring thread pools of their own get one thread: the rollout workers and the learner share the cores. */
export function threadEnvironment(): Record<string, string> {
  return { OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1', MKL_NUM_THREADS: '1' }
}
