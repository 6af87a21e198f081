import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ServeOptions } from '@agentgym/registry'
import { agentGymHome } from '../account/agentgym-home.ts'
import { defaultServer } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { cancelOnInterrupt } from '../interrupts.ts'
import { openBuiltSite } from '../processes/open-built-site.ts'
import { safeText } from '../terminal/safe-text.ts'
import { type SupervisedWorker, superviseWorker } from './supervise-worker.ts'

export type ServeFlags = {
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
  const { serveInProcesses } = await import('../processes/serve-in-processes.ts')
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
