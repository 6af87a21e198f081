import cluster, { type Worker } from 'node:cluster'
import { fileURLToPath } from 'node:url'
import { AgentGymError, type ErrorReport } from '@agentgym/contract'
import type { GroupSnapshot, MetricsSnapshot } from '@agentgym/registry/processes'
import { Heartbeat } from './heartbeat.ts'

const entry = fileURLToPath(new URL('./server.process.ts', import.meta.url))

export type ServerProcess = {
  pid: number | undefined
  start(start: ProcessStart): void
  /** Resolves when it serves; rejects with its error if it fails before that. */
  serving: Promise<{ url: string; hasSite: boolean }>
  ended: Promise<ProcessEnd>
  /** Resolves if it stops answering while it should run. */
  hung: Promise<void>
  /** Its metrics. Rejects if it ends before it responds. */
  readMetrics(): Promise<MetricsSnapshot>
  /** Lets it finish its requests and end. */
  stop(): void
  kill(): void
}

type ProcessEnd = { code: number | null; signal: NodeJS.Signals | null }

/** A process that loads the server and serves after `start`. `groupMetrics` is read when `/metrics` of it is scraped. */
export function forkServer(groupMetrics: () => Promise<GroupSnapshot>): ServerProcess {
  // Connections are long-lived, so they are distributed in turn, not to the process that wakes first.
  cluster.schedulingPolicy = cluster.SCHED_RR
  // Metrics contain numbers that JSON cannot represent, such as NaN.
  cluster.setupPrimary({
    exec: entry,
    args: [],
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const worker = cluster.fork()
  const send = (message: ToProcess) => {
    // It may just have ended; `ended` reports that.
    if (worker.isConnected()) worker.process.send(message, undefined, undefined, () => {})
  }
  const serving = Promise.withResolvers<{ url: string; hasSite: boolean }>()
  const metrics = new PendingMetrics()
  const heartbeat = new Heartbeat(() => send({ kind: 'ping' }))
  const ended = endOf(worker).then((end) => {
    heartbeat.end()
    metrics.rejectAll()
    serving.reject(new Error(`A process of the server ended before it served (${end.signal ?? end.code}).`))
    return end
  })
  // Callers that wait get the rejection; without one it must not count as unhandled.
  serving.promise.catch(() => {})
  worker.on('message', async (message: FromProcess) => {
    heartbeat.answered()
    if (message.kind === 'alive') return
    if (message.kind === 'serving') serving.resolve(message)
    else if (message.kind === 'failed') serving.reject(failureOf(message))
    else if (message.kind === 'metrics') metrics.settle(message.request, message.metrics)
    else send({ kind: 'group_metrics', request: message.request, group: await groupMetrics() })
  })
  return {
    pid: worker.process.pid,
    start: (start) => send({ kind: 'start', start }),
    serving: serving.promise,
    ended,
    hung: heartbeat.hung,
    readMetrics: () => metrics.request((id) => send({ kind: 'read_metrics', request: id })),
    stop: () => send({ kind: 'stop' }),
    kill: () => void worker.process.kill('SIGKILL'),
  }
}

function endOf(worker: Worker): Promise<ProcessEnd> {
  return new Promise((resolve) => {
    worker.process.once('exit', (code, signal) => resolve({ code, signal }))
    // The process could not be started.
    worker.process.once('error', () => resolve({ code: null, signal: null }))
  })
}

function failureOf({ report, stack }: Extract<FromProcess, { kind: 'failed' }>): Error {
  if (report !== null) return new AgentGymError(report)
  const [first] = stack.split('\n')
  return Object.assign(new Error(first), { stack })
}

/** Requests for the metrics of a process. */
class PendingMetrics {
  readonly #pending = new Map<number, PromiseWithResolvers<MetricsSnapshot>>()
  #requests = 0
  #ended = false

  request(send: (id: number) => void): Promise<MetricsSnapshot> {
    if (this.#ended) return Promise.reject(noMetrics())
    const id = this.#requests++
    const pending = Promise.withResolvers<MetricsSnapshot>()
    this.#pending.set(id, pending)
    send(id)
    return pending.promise
  }

  settle(id: number, metrics: MetricsSnapshot | null): void {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if (metrics === null) pending?.reject(noMetrics())
    else pending?.resolve(metrics)
  }

  rejectAll(): void {
    this.#ended = true
    for (const { reject } of this.#pending.values()) reject(noMetrics())
    this.#pending.clear()
  }
}

const noMetrics = () => new Error('the process did not report its metrics')

/** The options of a server process. */
export type ProcessStart = {
  /** Its number in the group, from 1. */
  process: number
  port: number
  servedPort: number | null
  data: string | undefined
  environment: NodeJS.ProcessEnv
}

/** From the supervisor to a process of the server. */
export type ToProcess =
  | { kind: 'start'; start: ProcessStart }
  | { kind: 'read_metrics'; request: number }
  | { kind: 'group_metrics'; request: number; group: GroupSnapshot }
  | { kind: 'stop' }
  | { kind: 'ping' }

/** From a process of the server to the supervisor. */
export type FromProcess =
  | { kind: 'serving'; url: string; hasSite: boolean }
  /** It never served. Expected errors come as a report, bugs as a stack. */
  | { kind: 'failed'; report: ErrorReport | null; stack: string }
  | { kind: 'metrics'; request: number; metrics: MetricsSnapshot | null }
  | { kind: 'read_group'; request: number }
  /** The answer to a ping. */
  | { kind: 'alive' }
