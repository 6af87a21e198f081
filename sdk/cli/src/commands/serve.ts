import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AgentGymError } from '@agentgym/contract'
import type { ServeOptions, Unclaimed } from '@agentgym/registry'
import type { Command } from 'commander'
import { agentGymHome, defaultServer } from '../account/connection.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { cancelOnInterrupt } from '../command-io.ts'
import { wholeNumber } from '../option-values.ts'
import { readCommandPackage } from '../packages/command-package.ts'
import { openScenarioLibrary } from '../packages/library-package.ts'
import { openBuiltSite } from '../processes/open-built-site.ts'
import { applyServerProxy } from '../proxies/find-proxy.ts'
import { safeText } from '../terminal/text.ts'
import { requireWalls } from '../walls.ts'

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

type Served = {
  url: string
  hasSite: boolean
  /** How the server gets an operator; null if it has one, absent if the log says so. */
  unclaimed?: Unclaimed | null
  close(): Promise<void>
  worker?: SupervisedWorker
}
type Options = Pick<ServeOptions, 'port' | 'data'> & { environment: NodeJS.ProcessEnv }

/**
 * `agentgym serve`: runs a server until Ctrl-C. In this process, with a worker process on the embedded database; or in
 * several processes supervised by this one.
 */
export async function serve(flags: ServeFlags, context: CommandContext): Promise<void> {
  const { symbols } = context.terminal
  const given = context.io.environment
  const interrupt = cancelOnInterrupt(context, () =>
    context.print(`${symbols.next} Stopping after requests in progress`),
  )
  const embedded = !given.DATABASE_URL
  const data = context.resolve(flags.data ?? (given.AGENTGYM_DATA || join(agentGymHome(context.io), 'server')))
  const environment = { ...given, AGENTGYM_LOG_LEVEL: given.AGENTGYM_LOG_LEVEL || logLevel(context) }
  const options = { port: flags.port, data, environment }
  const { readSettings } = await import('@agentgym/registry/processes')
  const settings = readSettings(options)
  const processes = flags.processes ?? settings.processes
  await applyServerProxy(settings.proxy)
  const served =
    processes === 1
      ? await serveHere(options, { worker: embedded && flags.worker !== false }, context)
      : await serveSupervised(processes, options, interrupt.signal)
  if (served !== undefined) {
    const worker = served.worker !== undefined
    printServing(served, { data: embedded ? data : null, worker, processes }, context)
    await aborted(interrupt.signal)
    await served.worker?.stop()
    await served.close()
  }
  interrupt.release()
  context.print(`${context.terminal.paint.accent(symbols.ok)} Stopped`)
}

async function serveHere(options: Options, { worker }: { worker: boolean }, context: CommandContext): Promise<Served> {
  const registry = await import('@agentgym/registry')
  const [site, command] = await Promise.all([openBuiltSite(), readCommandPackage()])
  const { url, workerToken, unclaimed, close } = await registry.serve({
    ...options,
    site,
    library: openScenarioLibrary,
    command,
  })
  const beside = worker && (await hasWalls(context)) ? superviseWorker(url, workerToken, context) : undefined
  return { url, hasSite: site !== undefined, unclaimed, close, worker: beside }
}

/** Whether the built-in worker may run uploaded code on this machine; says what is missing if not. */
async function hasWalls(context: CommandContext): Promise<boolean> {
  const { machineWalls } = await context.runtime()
  try {
    requireWalls(await machineWalls(), context.io.environment.AGENTGYM_WITHOUT_WALLS)
    return true
  } catch (error) {
    if (!(error instanceof AgentGymError) || error.code !== 'sandbox_incomplete') throw error
    const { symbols } = context.terminal
    context.print(`${symbols.warning} No worker is running, so uploads stay unchecked. ${error.message}`)
    context.print('  To run jobs anyway, on a server where only you can upload: AGENTGYM_WITHOUT_WALLS=any')
    return false
  }
}

/** Undefined if an early interrupt, which reaches the whole process group, ended one of the processes. */
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

/** Warnings on a terminal, every request in a log file. */
function logLevel({ terminal, verbose }: CommandContext): string {
  return terminal.live && !verbose ? 'warn' : 'info'
}

type Serving = { data: string | null; worker: boolean; processes: number }

function printServing({ url, hasSite, unclaimed }: Served, serving: Serving, context: CommandContext): void {
  const { data, worker, processes } = serving
  context.printJson({
    ...{ event: 'serving', url, npm: `${url}/npm/`, data, worker, processes },
    ...(unclaimed ? { unclaimed } : {}),
  })
  const { paint, symbols } = context.terminal
  if (!hasSite)
    context.print(`${symbols.warning} The site is not built; only the API is served. Build it with node web/build.ts`)
  const width = processes > 1 ? 'processes'.length : 6
  const row = (name: string, value: string) =>
    context.print(`  ${paint.dim(name.padEnd(width))}  ${safeText(value, 500)}`)
  context.print(`${paint.accent(symbols.ok)} AgentGym is running at ${paint.bold(url)}. Press Ctrl-C to stop.`)
  row('site', `${url}/`)
  row('API', `${url}/docs`)
  row('npm', `${url}/npm/`)
  if (data !== null) row('data', context.displayPath(data))
  const jobs = 'checks, evaluations and training'
  row('jobs', worker ? `${jobs} on the built-in worker` : `none here; start a worker with agentgym worker --server URL`)
  if (processes > 1) row('processes', String(processes))
  if (unclaimed) printClaim(unclaimed, url, context)
}

/** Printed until the server has an operator. */
function printClaim(unclaimed: Unclaimed, url: string, context: CommandContext): void {
  const { paint, symbols } = context.terminal
  if (unclaimed.by === 'secret') {
    context.print(`${symbols.warning} This server has no operator. Sign up, then enter the set-up secret:`)
    context.print(`  ${paint.accent(unclaimed.page)}`)
    context.print(`  ${paint.bold(unclaimed.secret)}`)
    return
  }
  const prefix = url === defaultServer ? '' : `AGENTGYM_SERVER=${url} `
  const command = `${prefix}agentgym signup --username NAME --email ADDRESS`
  context.print(`${symbols.next} Create the first account, which becomes the operator: ${paint.accent(command)}`)
}

const entry = fileURLToPath(new URL('../main.ts', import.meta.url))
/** The environment variables that the worker inherits: no database, no keys. */
const inherited =
  /^(PATH|HOME|USER|TMPDIR|TERM|COLUMNS|LANG|LC_.*|NO_COLOR|FORCE_COLOR|LIBTORCH|OTEL_.*|AGENTGYM_(HOME|WITHOUT_WALLS|WORKER_.*))$/
const shortestPauseMs = 1_000
const longestPauseMs = 30_000
/** A process that ran this long was healthy: the next failure restarts the backoff. */
const healthyMs = 60_000

type SupervisedWorker = { stop(): Promise<void> }

/** Runs `agentgym worker` in its own process and restarts it when it ends, until `stop`. */
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
    context.printJson({ event: 'worker_started', pid: running.pid })
    ended = new Promise<void>((resolve) => {
      running.once('error', () => resolve())
      running.once('exit', () => resolve())
    }).then(() => {
      if (stopping) return
      if (performance.now() - startedAt > healthyMs) pauseMs = shortestPauseMs
      context.print(`${context.terminal.symbols.warning} The worker exited; restarting in ${pauseMs / 1000} s`)
      context.printJson({ event: 'worker_restarts', pause_ms: pauseMs })
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
    // The channel carries no messages: when it closes, the worker knows that this process is gone.
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // Its own process group: Ctrl-C reaches the whole group, and a second signal would kill the worker.
    detached: true,
  })
}
