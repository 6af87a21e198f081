import { AgentGymError } from '@agentgym/contract'
import { jsonLog, readSettings } from '@agentgym/registry/processes'
import { FiguresOfGroup } from './figures-of-group.ts'
import { forkServer, type ServerProcess } from './fork-server.ts'

type ProcessesOptions = {
  /** Port to listen on; 0 takes a free one, which all of them share. */
  port?: number
  /** Folder of what does not lie elsewhere. */
  data?: string
  environment: NodeJS.ProcessEnv
}

type ServedProcesses = {
  url: string
  /** Whether the site was built. */
  hasSite: boolean
  /** Lets all of them drain; resolves once they have ended. */
  close(): Promise<void>
}

/**
 * Serves by `processes` processes of one port, each of which is a whole server; this one supervises them: it gives
 * connections out in turn, and starts anew what ends. Resolves once all of them serve.
 *
 * Throws `config_invalid` on the embedded database, and what the first of them fails of, such as
 * `database_unavailable`; then none is left.
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

type Place = {
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
  readonly #figures = new FiguresOfGroup()
  readonly #places: Place[] = []
  /** What processes are told to listen on, all of them by the same number: by that they share one socket. */
  #port: number
  #servedPort: number | null = null
  #stopping = false

  constructor(port: number, options: ProcessesOptions, log: ReturnType<typeof jsonLog>) {
    this.#port = port
    this.#options = options
    this.#log = log
  }

  /** The first one finds out whether the settings are good and which port it is; only then are there others. */
  async start(processes: number): Promise<{ url: string; hasSite: boolean }> {
    // Asked twice to stop, this process exits at once; left to drain, the others would go on alone.
    process.once('exit', () => {
      if (this.#stopping) for (const { running } of this.#places) running.kill()
    })
    for (let number = 1; number <= processes; number++)
      this.#places.push({ number, pause: new RestartPause(), running: this.#fork() })
    const [first, ...others] = this.#places
    const served = await this.#serve(first)
    this.#servedPort = Number(new URL(served.url).port)
    await Promise.all(others.map((place) => this.#serve(place)))
    return served
  }

  /** Lets them drain, or ends them at once: before they all serve nobody knows of them, and nothing is lost. */
  async end(how: 'stop' | 'kill'): Promise<void> {
    this.#stopping = true
    for (const { restart, running } of this.#places) {
      clearTimeout(restart)
      running[how]()
    }
    await Promise.all(this.#places.map(({ running }) => running.ended))
  }

  #fork(): ServerProcess {
    return forkServer(() => this.#figures.read(this.#serving()))
  }

  async #serve(place: Place): Promise<{ url: string; hasSite: boolean }> {
    const { running } = place
    const { data, environment } = this.#options
    const [port, servedPort] = [this.#port, this.#servedPort]
    running.start({ process: place.number, port, servedPort, data, environment })
    const served = await running.serving
    place.servesSince = performance.now()
    void running.ended.then((end) => this.#ended(place, running, end))
    return served
  }

  #serving(): ServerProcess[] {
    return this.#places.flatMap(({ running, servesSince }) => (servesSince === undefined ? [] : [running]))
  }

  #ended(place: Place, running: ServerProcess, end: { code: number | null; signal: string | null }): void {
    const servedMs = performance.now() - (place.servesSince ?? 0)
    place.servesSince = undefined
    this.#figures.ended(running)
    if (this.#stopping) return
    // With the last of them a free port was given back: from now on it is asked for by its number.
    if (this.#serving().length === 0 && this.#servedPort !== null) this.#port = this.#servedPort
    const pauseMs = this.#startAgain(place, servedMs)
    this.#log.error('process_ended', { process: place.number, pid: running.pid, ...end, restart_ms: pauseMs })
  }

  #startAgain(place: Place, servedMs: number): number {
    const pauseMs = place.pause.next(servedMs)
    place.restart = setTimeout(() => {
      place.running = this.#fork()
      this.#serve(place).catch((error: Error) => {
        if (this.#stopping) return
        const restart_ms = this.#startAgain(place, 0)
        this.#log.error('process_failed', { process: place.number, error: error.stack ?? String(error), restart_ms })
      })
    }, pauseMs)
    return pauseMs
  }
}

function onlyOne(processes: number): AgentGymError {
  return new AgentGymError({
    code: 'config_invalid',
    message: `The embedded database is for one process, and this server was to have ${processes}.`,
    hint: 'Set DATABASE_URL to a PostgreSQL database, or leave out --processes and AGENTGYM_PROCESSES.',
    data: { field: 'AGENTGYM_PROCESSES' },
  })
}

const shortestMs = 100
const longestMs = 10_000
/** Whoever served that long was well: the next failure is a new one. */
const healthyMs = 60_000

/** How long to wait before a process that ended is started again: 0.1 s at first, doubled each time up to 10 s. */
export class RestartPause {
  #nextMs = shortestMs

  /** The pause in milliseconds, after a process that served for `servedMs`, or 0 where it never did. */
  next(servedMs: number): number {
    if (servedMs >= healthyMs) this.#nextMs = shortestMs
    const pauseMs = this.#nextMs
    this.#nextMs = Math.min(2 * pauseMs, longestMs)
    return pauseMs
  }
}
