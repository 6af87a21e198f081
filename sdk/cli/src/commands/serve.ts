import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ServeOptions } from '@agentgym/registry'
import type { Command } from 'commander'
import { agentGymHome, defaultServer } from '../account/connection.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { cancelOnInterrupt } from '../command-io.ts'
import { wholeNumber } from '../option-values.ts'
import { openBuiltSite } from '../processes/open-built-site.ts'
import { safeText } from '../terminal/text.ts'

export function addServeCommand(program: Command, action: MakeAction): void {
  program
    .command('serve')
    .description('start a server: site, API, npm registry, and a worker for checks, training and hosted agents')
    .option(
      '--port <N>',
      'port (default: 4477; 0 picks a free one)',
      wholeNumber('port', { least: 0, greatest: 65_535 }),
    )
    .option('--data <DIR>', 'folder of the database and packages (default: server in AGENTGYM_HOME)')
    .option('--no-worker', "don't start a worker; jobs run on other workers")
    .option(
      '--processes <N>',
      'server processes, on PostgreSQL (default: AGENTGYM_PROCESSES, or 1)',
      wholeNumber('processes', { least: 1, greatest: 64 }),
    )
    .action(action(serve))
}

type ServeFlags = {
  port?: number
  data?: string
  /** False with --no-worker. */
  worker?: boolean
  processes?: number
}

type Served = { url: string; hasSite: boolean; close(): Promise<void>; worker?: SupervisedWorker }
type Options = Pick<ServeOptions, 'port' | 'data'> & { environment: NodeJS.ProcessEnv }

/**
 * `agentgym serve`: the registry until Ctrl-C. In this process, on the embedded database with a worker beside it; or in
 * several that this one supervises.
 */
export async function serve(flags: ServeFlags, context: CommandContext): Promise<void> {
  const { symbols } = context.terminal
  const given = context.io.environment
  const interrupt = cancelOnInterrupt(context, () =>
    context.say(`${symbols.next} Stop, once what is under way has ended`),
  )
  const embedded = !given.DATABASE_URL
  const data = context.resolve(flags.data ?? (given.AGENTGYM_DATA || join(agentGymHome(context.io), 'server')))
  const fresh = embedded && !existsSync(data)
  const environment = { ...given, AGENTGYM_LOG_LEVEL: given.AGENTGYM_LOG_LEVEL || logLevel(context) }
  const options = { port: flags.port, data, environment }
  const { readSettings } = await import('@agentgym/registry/processes')
  const processes = flags.processes ?? readSettings(options).processes
  const served =
    processes === 1
      ? await serveHere(options, { worker: embedded && flags.worker !== false }, context)
      : await serveSupervised(processes, options, interrupt.signal)
  if (served !== undefined) {
    const worker = served.worker !== undefined
    sayServing(served, { data: embedded ? data : null, fresh, worker, processes }, context)
    await aborted(interrupt.signal)
    await served.worker?.stop()
    await served.close()
  }
  interrupt.release()
  context.say(`${context.terminal.paint.accent(symbols.ok)} Stopped`)
}

async function serveHere(options: Options, { worker }: { worker: boolean }, context: CommandContext): Promise<Served> {
  const registry = await import('@agentgym/registry')
  const site = await openBuiltSite()
  const { url, workerToken, close } = await registry.serve({ ...options, site })
  const beside = worker ? superviseWorker(url, workerToken, context) : undefined
  return { url, hasSite: site !== undefined, close, worker: beside }
}

/** Undefined where it was interrupted so early that the interrupt, which reaches them all, ended one of them. */
async function serveSupervised(processes: number, options: Options, signal: AbortSignal): Promise<Served | undefined> {
  const { serveInProcesses } = await import('../processes/supervisor.ts')
  try {
    return await serveInProcesses(processes, options)
  } catch (error) {
    if (!signal.aborted) throw error
    return undefined
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((done) => signal.addEventListener('abort', () => done(), { once: true }))
}

/** Someone at a terminal wants to see what is wrong; a log file wants every request. */
function logLevel({ terminal, verbose }: CommandContext): string {
  return terminal.live && !verbose ? 'warn' : 'info'
}

type Serving = { data: string | null; fresh: boolean; worker: boolean; processes: number }

function sayServing({ url, hasSite }: Served, serving: Serving, context: CommandContext): void {
  const { data, fresh, worker, processes } = serving
  context.sayJson({ event: 'serving', url, npm: `${url}/npm/`, data, worker, processes })
  const { paint, symbols } = context.terminal
  if (!hasSite)
    context.say(
      `${symbols.warning} The site is not built, so this server has its API alone: node web/build.ts builds it.`,
    )
  const width = processes > 1 ? 'processes'.length : 6
  const row = (name: string, value: string) =>
    context.say(`  ${paint.dim(name.padEnd(width))}  ${safeText(value, 500)}`)
  context.say(`${paint.accent(symbols.ok)} AgentGym serves at ${paint.bold(url)}. Ctrl-C stops.`)
  row('site', `${url}/`)
  row('API', `${url}/docs`)
  row('npm', `${url}/npm/`)
  if (data !== null) row('data', context.displayPath(data))
  const jobs = 'checks, evaluations and training'
  row('jobs', worker ? `${jobs} by a worker beside this server` : `by workers elsewhere: agentgym worker --server URL`)
  if (processes > 1) row('processes', String(processes))
  if (!fresh) return
  const prefix = url === defaultServer ? '' : `AGENTGYM_SERVER=${url} `
  const command = `${prefix}agentgym signup --username NAME --email ADDRESS`
  context.say(`${symbols.next} The first account operates this server: ${paint.accent(command)}`)
}

const entry = fileURLToPath(new URL('../main.ts', import.meta.url))
/** What a worker may know of our environment: neither database nor keys are among it. */
const inherited =
  /^(PATH|HOME|USER|TMPDIR|TERM|COLUMNS|LANG|LC_.*|NO_COLOR|FORCE_COLOR|LIBTORCH|OTEL_.*|AGENTGYM_(HOME|WORKER_.*))$/
const shortestPauseMs = 1_000
const longestPauseMs = 30_000
/** Whoever lived that long was well: the next failure is a new one. */
const healthyMs = 60_000

type SupervisedWorker = { stop(): Promise<void> }

/** Runs `agentgym worker` in a process of its own, and again when it ends, until `stop`. */
function superviseWorker(server: string, token: string, context: CommandContext): SupervisedWorker {
  let stopping = false
  let child: ChildProcess | undefined
  let timer: NodeJS.Timeout | undefined
  let pauseMs = shortestPauseMs
  let ended: Promise<void> = Promise.resolve()

  const start = () => {
    const startedAt = performance.now()
    const running = startWorker(server, token, context)
    child = running
    context.sayJson({ event: 'worker_started', pid: running.pid })
    ended = new Promise<void>((resolve) => {
      running.once('error', () => resolve())
      running.once('exit', () => resolve())
    }).then(() => {
      if (stopping) return
      if (performance.now() - startedAt > healthyMs) pauseMs = shortestPauseMs
      context.say(`${context.terminal.symbols.warning} The worker ended; another one starts in ${pauseMs / 1000} s`)
      context.sayJson({ event: 'worker_restarts', pause_ms: pauseMs })
      timer = setTimeout(start, pauseMs)
      pauseMs = Math.min(2 * pauseMs, longestPauseMs)
    })
  }
  start()
  return {
    stop: async () => {
      stopping = true
      clearTimeout(timer)
      child?.kill('SIGTERM')
      await ended
    },
  }
}

function startWorker(server: string, token: string, { json, verbose, color, io }: CommandContext): ChildProcess {
  const kept = Object.entries(io.environment).filter(([name]) => inherited.test(name))
  const flags = [...(json ? ['--json'] : []), ...(verbose ? ['--verbose'] : []), ...(color ? [] : ['--no-color'])]
  return spawn(process.execPath, ['--no-node-snapshot', entry, 'worker', '--server', server, ...flags], {
    env: { ...Object.fromEntries(kept), AGENTGYM_TOKEN: token },
    // The channel carries nothing: it breaks when we end, and then the worker ends too.
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // A process group of its own: Ctrl-C in a terminal reaches the whole group, and a second signal ends a worker at once.
    detached: true,
  })
}
