import cluster, { type Worker } from 'node:cluster'
import { fileURLToPath } from 'node:url'
import { AgentGymError, type ErrorReport } from '@agentgym/contract'
import type { GroupFigures, ProcessFigures } from '@agentgym/registry/processes'

const entry = fileURLToPath(new URL('./server.process.ts', import.meta.url))

export type ServerProcess = {
  pid: number | undefined
  start(start: ProcessStart): void
  /** Resolves once it serves; rejects with what it failed of before that. */
  serving: Promise<{ url: string; hasSite: boolean }>
  ended: Promise<ProcessEnd>
  /** What it counts. Rejects where it ends before it answers. */
  readFigures(): Promise<ProcessFigures>
  /** Lets it drain and end. */
  stop(): void
  kill(): void
}

type ProcessEnd = { code: number | null; signal: NodeJS.Signals | null }

/** A process that loads the server, and serves once it is told how. `groupFigures` is for whoever reads `/metrics` of it. */
export function forkServer(groupFigures: () => Promise<GroupFigures>): ServerProcess {
  // A client keeps its connection for long, so who takes it is not left to whoever happens to wake first.
  cluster.schedulingPolicy = cluster.SCHED_RR
  // Figures hold numbers that JSON has not, such as NaN.
  cluster.setupPrimary({
    exec: entry,
    args: [],
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const worker = cluster.fork()
  const send = (message: ToProcess) => {
    // It may have ended a moment ago: `ended` tells.
    if (worker.isConnected()) worker.process.send(message, undefined, undefined, () => {})
  }
  const serving = Promise.withResolvers<{ url: string; hasSite: boolean }>()
  const figures = new AwaitedFigures()
  const ended = endOf(worker).then((end) => {
    figures.giveUp()
    serving.reject(new Error(`A process of the server ended before it served (${end.signal ?? end.code}).`))
    return end
  })
  // Who waits hears of it; where nobody does any more, it is no news.
  serving.promise.catch(() => {})
  worker.on('message', async (message: FromProcess) => {
    if (message.kind === 'serving') serving.resolve(message)
    else if (message.kind === 'failed') serving.reject(failureOf(message))
    else if (message.kind === 'figures') figures.answer(message.request, message.figures)
    else send({ kind: 'group_figures', request: message.request, group: await groupFigures() })
  })
  return {
    pid: worker.process.pid,
    start: (start) => send({ kind: 'start', start }),
    serving: serving.promise,
    ended,
    readFigures: () => figures.ask((request) => send({ kind: 'read_figures', request })),
    stop: () => send({ kind: 'stop' }),
    kill: () => void worker.process.kill('SIGKILL'),
  }
}

function endOf(worker: Worker): Promise<ProcessEnd> {
  return new Promise((resolve) => {
    worker.process.once('exit', (code, signal) => resolve({ code, signal }))
    // It could not be started at all.
    worker.process.once('error', () => resolve({ code: null, signal: null }))
  })
}

function failureOf({ report, stack }: Extract<FromProcess, { kind: 'failed' }>): Error {
  if (report !== null) return new AgentGymError(report)
  const [first] = stack.split('\n')
  return Object.assign(new Error(first), { stack })
}

/** Figures that a process was asked for. */
class AwaitedFigures {
  readonly #waiting = new Map<number, PromiseWithResolvers<ProcessFigures>>()
  #requests = 0
  #over = false

  ask(send: (request: number) => void): Promise<ProcessFigures> {
    if (this.#over) return Promise.reject(noFigures())
    const request = this.#requests++
    const waiting = Promise.withResolvers<ProcessFigures>()
    this.#waiting.set(request, waiting)
    send(request)
    return waiting.promise
  }

  answer(request: number, figures: ProcessFigures | null): void {
    const waiting = this.#waiting.get(request)
    this.#waiting.delete(request)
    if (figures === null) waiting?.reject(noFigures())
    else waiting?.resolve(figures)
  }

  giveUp(): void {
    this.#over = true
    for (const { reject } of this.#waiting.values()) reject(noFigures())
    this.#waiting.clear()
  }
}

const noFigures = () => new Error('the process gave no figures')

/** What a server's process is started with. */
export type ProcessStart = {
  /** Its number in the group, from 1 on. */
  process: number
  port: number
  servedPort: number | null
  data: string | undefined
  environment: NodeJS.ProcessEnv
}

/** From the supervisor to a process of the server. */
export type ToProcess =
  | { kind: 'start'; start: ProcessStart }
  | { kind: 'read_figures'; request: number }
  | { kind: 'group_figures'; request: number; group: GroupFigures }
  | { kind: 'stop' }

/** From a process of the server to the supervisor. */
export type FromProcess =
  | { kind: 'serving'; url: string; hasSite: boolean }
  /** It never served. A failure that can be expected comes as its report, a bug as its stack. */
  | { kind: 'failed'; report: ErrorReport | null; stack: string }
  | { kind: 'figures'; request: number; figures: ProcessFigures | null }
  | { kind: 'ask_group'; request: number }
