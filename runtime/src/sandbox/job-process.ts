import process from 'node:process'
import { Worker } from 'node:worker_threads'
import type { EncoderFiles, TextEncoderName } from '@agentgym/agent/engine'
import { AgentGymError, type ErrorReport } from '@agentgym/contract'
import type { JobLimits } from './limits.ts'

/** A job's end of the line to its supervisor. */
export type JobChannel = {
  /** The limits that the supervisor enforces; hand them to whatever loads a scenario. */
  readonly limits: JobLimits
  /** Sends structured-clonable data to the supervisor's `onMessage`. Resolves once it has been written. */
  send(message: unknown): Promise<void>
  /**
   * Puts a worker's board into the heartbeats, so that the supervisor sees where its guest is. A worker's later board
   * replaces its earlier one.
   */
  watchBoard(worker: number, board: Int32Array): void
  /** Notes that the job itself went on, as between two minibatches: the supervisor's patience starts anew. */
  progress(): void
  /** Takes what the supervisor sends while the job runs; what comes before this is called is dropped. */
  onMessage(handler: (message: unknown) => void): void
  /**
   * The files of a text encoder, in memory that threads share. The supervisor obtains them, since a job has neither network
   * nor files. Rejects with `encoder_unavailable`.
   */
  encoder(name: TextEncoderName): Promise<EncoderFiles>
  /** True once the supervisor has requested a graceful end. */
  stopRequested(): boolean
  /**
   * Gives up what only start-up needed: the uid and gid of root, and reading files. Call it after every native module
   * and worker thread is loaded and before guest code is; nothing can be imported afterwards.
   */
  lockDown(): void
}

/**
 * Runs one job in a process that `superviseJob` started: waits for the job, hands the handler's result (structured-
 * clonable) or its error to the supervisor, and ends. The process also ends as soon as the supervisor is gone, even while
 * its main thread is deep in an update of the learner.
 *
 * The main thread must never run guest code, and must not block (`Atomics.wait`) while workers do: heartbeats come from
 * it, and only they show the supervisor that a guest hangs.
 */
export function serveJob<Job, Result>(handler: (job: Job, channel: JobChannel) => Promise<Result>): void {
  if (process.send === undefined) throw new Error('This file is started by superviseJob, not by hand.')
  process.on('disconnect', endNow)
  process.on('uncaughtException', (error) => void finish({ kind: 'error', report: toReport(error) }))
  process.on('unhandledRejection', (error) => void finish({ kind: 'error', report: toReport(error) }))
  let stopRequested = false
  let take: (message: unknown) => void = () => {}
  const encoders = new RequestedEncoders()
  process.on('message', (toJob: ToJob) => {
    if (toJob.kind === 'stop') {
      stopRequested = true
      return
    }
    if (toJob.kind === 'message') return take(toJob.message)
    if (toJob.kind === 'encoder') return encoders.receive(toJob)
    endWithParent()
    const onMessage = (handler: typeof take) => {
      take = handler
    }
    const encoder = (name: TextEncoderName) => encoders.request(name)
    const channel = { ...openChannel(toJob), onMessage, encoder, stopRequested: () => stopRequested }
    handler(toJob.job as Job, channel).then(
      (result) => finish({ kind: 'result', result }),
      (error) => finish({ kind: 'error', report: toReport(error) }),
    )
  })
}

function openChannel({
  limits,
  user,
}: {
  limits: JobLimits
  user: number
}): Omit<JobChannel, 'onMessage' | 'encoder' | 'stopRequested'> {
  const boards = new Map<number, Int32Array>()
  let progress = 0
  const beat = () => {
    // Copies: shared memory cannot leave the process.
    const copies = [...boards].map(([worker, board]): [number, Int32Array] => [worker, Int32Array.from(board)])
    void write({ kind: 'beat', boards: copies, progress })
  }
  setInterval(beat, BEAT_MS)
  beat()
  return {
    limits,
    send: (message) => write({ kind: 'message', message }),
    watchBoard: (worker, board) => void boards.set(worker, board),
    progress: () => void progress++,
    lockDown: () => lockDown(user),
  }
}

/** Requests of encoders that the supervisor has not answered yet. */
class RequestedEncoders {
  readonly #pending = new Map<TextEncoderName, PromiseWithResolvers<EncoderFiles>>()

  request(name: TextEncoderName): Promise<EncoderFiles> {
    const known = this.#pending.get(name)
    if (known !== undefined) return known.promise
    const pending = Promise.withResolvers<EncoderFiles>()
    this.#pending.set(name, pending)
    write({ kind: 'encoder', name }).catch(pending.reject)
    return pending.promise
  }

  receive({ name, answer }: Extract<ToJob, { kind: 'encoder' }>): void {
    const pending = this.#pending.get(name)
    if ('report' in answer) {
      pending?.reject(new AgentGymError(answer.report))
      return
    }
    const shared = new Uint8Array(new SharedArrayBuffer(answer.files.model.length))
    shared.set(answer.files.model)
    pending?.resolve({ ...answer.files, model: shared })
  }
}

function write(message: FromJob): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(message, undefined, undefined, (error: Error | null) => (error ? reject(error) : resolve()))
  })
}

/** The supervisor kills the process when it has the last message: an isolate in trouble would hang an orderly exit. */
function finish(message: FromJob): Promise<void> {
  return write(message)
    .catch((error) => write({ kind: 'error', report: toReport(error) }))
    .catch(endNow)
}

function endNow(): void {
  process.kill(process.pid, 'SIGKILL')
}

/**
 * A closed channel is noticed by the main thread, once it is free. This thread notices at once that another process has
 * inherited us (where bubblewrap does not end us with its parent); it must start before the job is locked down.
 */
function endWithParent(): void {
  const source = `
    const { workerData: parent } = require('node:worker_threads')
    setInterval(() => process.ppid === parent || process.kill(process.pid, 'SIGKILL'), 250)`
  const resourceLimits = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 2 }
  new Worker(source, { eval: true, workerData: process.ppid, resourceLimits }).unref()
}

export function toReport(error: unknown): ErrorReport {
  if (error instanceof AgentGymError) return error.toReport()
  const message = error instanceof Error ? error.message : 'a value that is not an Error was thrown'
  const stack = error instanceof Error ? (error.stack ?? '').slice(0, 2048) : ''
  return {
    code: 'training_failed',
    message: `The job failed for a reason of its own: ${message.slice(0, 400)}`,
    hint: 'This is a fault of AgentGym, not of the scenario: please report it with the stack.',
    data: { stack },
  }
}

const NOBODY = 65_534

function lockDown(user: number): void {
  dropUser(user)
  // Node's permission model, where the supervisor switched it on. A seat belt: the kernel's walls are others.
  const permission = process.permission as { drop?: (scope: string) => void } | undefined
  permission?.drop?.('fs.read')
}

/** One uid a job, which the kernel counts its tasks by; a container may not map it: then `nobody`. */
function dropUser(user: number): void {
  if (process.getuid?.() !== 0) return
  for (const id of [user, NOBODY]) {
    try {
      process.setgroups?.([])
      process.setgid?.(id)
      process.setuid?.(id)
      return
    } catch {
      // Not mapped in this user namespace, or no right to change: the other walls stand.
    }
  }
}

/** From the supervisor to its job's process. */
export type ToJob =
  /** `user` is the uid that root's job takes for itself. */
  | { kind: 'job'; job: unknown; limits: JobLimits; user: number }
  /** A message to the running job. */
  | { kind: 'message'; message: unknown }
  /** Answers `encoder`. */
  | { kind: 'encoder'; name: TextEncoderName; answer: { files: EncoderFiles } | { report: ErrorReport } }
  /** Requests a graceful end: keep the results so far and return. */
  | { kind: 'stop' }

/** From a job's process to its supervisor. Whatever comes is data: the process may have been taken over. */
export type FromJob =
  | {
      kind: 'beat'
      /** Copies of the boards being watched, by worker. */
      boards: [worker: number, board: Int32Array][]
      /** Counts calls of `progress`. */
      progress: number
    }
  | { kind: 'message'; message: unknown }
  /** Requests the files of a text encoder, once. */
  | { kind: 'encoder'; name: TextEncoderName }
  | { kind: 'result'; result: unknown }
  | { kind: 'error'; report: ErrorReport }

export const BEAT_MS = 50
