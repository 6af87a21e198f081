import { AgentGymError } from '@agentgym/contract'
import { jsonLog, readSettings } from '@agentgym/registry/processes'
import { forkServer, type ServerProcess } from './fork-server.ts'
import { GroupMetrics } from './group-metrics.ts'

type ProcessesOptions = {
  /** Port to listen on; 0 picks a free one, which all processes share. */
  port?: number
  /** Data folder. */
  data?: string
  environment: NodeJS.ProcessEnv
}

type ServedProcesses = {
  url: string
  /** Whether the site was built. */
  hasSite: boolean
  /** Lets all processes finish their requests; resolves when they have ended. */
  close(): Promise<void>
}

/**
 * Serves one port with `processes` processes, each a complete server. This process supervises them: it distributes
 * connections in turn, restarts processes that end, and replaces those that hang. Resolves when all of them serve.
 *
 * Throws `config_invalid` on the embedded database, and the error of the first process, such as `database_unavailable`;
 * then all of them have ended.
 */
export async function serveInProcesses(processes: number, options: ProcessesOptions): Promise<ServedProcesses> {
  const settings = readSettings(options)
  if (!('url' in settings.database)) throw onlyOne(processes)
  const log = jsonLog((line) => process.stderr.write(line), settings.logLevel)
  const supervisor = new Supervisor(settings.port, options, log)
  try {
    const { url, hasSite } = await supervisor.start(processes)
    return { url, hasSite, close: () => supervisor.end('stop') }
  } catch (error) {
    await supervisor.end('kill')
    throw error
  }
}

type Slot = {
  number: number
  pause: RestartPause
  running: ServerProcess
  /** By `performance.now()`; undefined until it serves. */
  servesSince?: number
  restart?: NodeJS.Timeout
}

class Supervisor {
  readonly #options: ProcessesOptions
  readonly #log: ReturnType<typeof jsonLog>
  readonly #metrics = new GroupMetrics()
  readonly #slots: Slot[] = []
  /** The port that processes listen on. They share one socket because they all use the same number. */
  #port: number
  #servedPort: number | null = null
  #stopping = false

  constructor(port: number, options: ProcessesOptions, log: ReturnType<typeof jsonLog>) {
    this.#port = port
    this.#options = options
    this.#log = log
  }

  /** The first process validates the settings and finds the port; then the others start. */
  async start(processes: number): Promise<{ url: string; hasSite: boolean }> {
    // A second interrupt exits this process at once. The others must not go on without it.
    process.once('exit', () => {
      if (this.#stopping) for (const { running } of this.#slots) running.kill()
    })
    for (let number = 1; number <= processes; number++)
      this.#slots.push({ number, pause: new RestartPause(), running: this.#fork() })
    const [first, ...others] = this.#slots
    const served = await this.#serve(first)
    this.#servedPort = Number(new URL(served.url).port)
    await Promise.all(others.map((slot) => this.#serve(slot)))
    return served
  }

  /** Lets them finish their requests, or kills them: before they all serve, nothing is lost. */
  async end(how: 'stop' | 'kill'): Promise<void> {
    this.#stopping = true
    for (const { restart, running } of this.#slots) {
      clearTimeout(restart)
      running[how]()
    }
    await Promise.all(this.#slots.map(({ running }) => running.ended))
  }

  #fork(): ServerProcess {
    return forkServer(() => this.#metrics.read(this.#serving()))
  }

  async #serve(slot: Slot): Promise<{ url: string; hasSite: boolean }> {
    const { running } = slot
    const { data, environment } = this.#options
    const [port, servedPort] = [this.#port, this.#servedPort]
    void running.hung.then(() => {
      this.#log.error('process_hung', { process: slot.number, pid: running.pid })
      running.kill()
    })
    running.start({ process: slot.number, port, servedPort, data, environment })
    const served = await running.serving
    slot.servesSince = performance.now()
    void running.ended.then((end) => this.#ended(slot, running, end))
    return served
  }

  #serving(): ServerProcess[] {
    return this.#slots.flatMap(({ running, servesSince }) => (servesSince === undefined ? [] : [running]))
  }

  #ended(slot: Slot, running: ServerProcess, end: { code: number | null; signal: string | null }): void {
    const servedMs = performance.now() - (slot.servesSince ?? 0)
    slot.servesSince = undefined
    this.#metrics.ended(running)
    if (this.#stopping) return
    // The last process has released the port, so the next one must ask for its number.
    if (this.#serving().length === 0 && this.#servedPort !== null) this.#port = this.#servedPort
    const pauseMs = this.#startAgain(slot, servedMs)
    this.#log.error('process_ended', { process: slot.number, pid: running.pid, ...end, restart_ms: pauseMs })
  }

  #startAgain(slot: Slot, servedMs: number): number {
    const pauseMs = slot.pause.next(servedMs)
    slot.restart = setTimeout(() => {
      slot.running = this.#fork()
      this.#serve(slot).catch((error: Error) => {
        if (this.#stopping) return
        const restart_ms = this.#startAgain(slot, 0)
        this.#log.error('process_failed', { process: slot.number, error: error.stack ?? String(error), restart_ms })
      })
    }, pauseMs)
    return pauseMs
  }
}

function onlyOne(processes: number): AgentGymError {
  return new AgentGymError({
    code: 'config_invalid',
    message: `${processes} server processes need PostgreSQL: the embedded database supports one process`,
    hint: 'Set DATABASE_URL to a PostgreSQL database, or remove --processes and AGENTGYM_PROCESSES.',
    data: { field: 'AGENTGYM_PROCESSES' },
  })
}

const shortestMs = 100
const longestMs = 10_000
/** A process that served this long was healthy: the next failure restarts the backoff. */
const healthyMs = 60_000

/** Backoff before a process is restarted: 0.1 s at first, doubled each time up to 10 s. */
export class RestartPause {
  #nextMs = shortestMs

  /** Milliseconds to wait after a process that served for `servedMs`, 0 if it never served. */
  next(servedMs: number): number {
    if (servedMs >= healthyMs) this.#nextMs = shortestMs
    const pauseMs = this.#nextMs
    this.#nextMs = Math.min(2 * pauseMs, longestMs)
    return pauseMs
  }
}
