import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { RunningServer, ServeOptions } from '@agentgym/registry'
import { agentGymHome } from '../account/agentgym-home.ts'
import { defaultServer } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { cancelOnInterrupt } from '../interrupts.ts'
import { displayPath } from '../terminal/display-path.ts'
import { safeText } from '../terminal/safe-text.ts'
import { superviseWorker } from './supervise-worker.ts'

export type ServeFlags = {
  port?: number
  data?: string
  /** False with --no-worker. */
  worker?: boolean
}

/** `agentgym serve`: the registry in this process until Ctrl-C; on the embedded database with a worker beside it. */
export async function serve(flags: ServeFlags, context: CommandContext): Promise<void> {
  const { symbols } = context.terminal
  const interrupt = cancelOnInterrupt(() => context.say(`${symbols.next} Stop, once what is under way has ended`))
  const embedded = !process.env.DATABASE_URL
  const data = resolve(flags.data ?? (process.env.AGENTGYM_DATA || join(agentGymHome(), 'server')))
  const fresh = embedded && !existsSync(data)
  const registry = await import('@agentgym/registry')
  const site = await builtSite(context)
  const server = await registry.serve({
    port: flags.port,
    data,
    site,
    environment: { ...process.env, AGENTGYM_LOG_LEVEL: process.env.AGENTGYM_LOG_LEVEL || logLevel(context) },
  })
  const worker =
    embedded && flags.worker !== false ? superviseWorker(server.url, server.workerToken, context) : undefined
  sayServing(server, { data: embedded ? data : null, fresh, worker: worker !== undefined }, context)
  await aborted(interrupt.signal)
  await worker?.stop()
  await server.close()
  interrupt.release()
  context.say(`${context.terminal.paint.accent(symbols.ok)} Stopped`)
}

/** The marketplace's site; undefined, and said, in a clone that has not built it. */
async function builtSite({ say, terminal: { symbols } }: CommandContext): Promise<ServeOptions['site']> {
  try {
    return (await import('@agentgym/web')).openSite
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error
    say(`${symbols.warning} The site is not built, so this server has its API alone: node web/build.ts builds it.`)
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

type Serving = { data: string | null; fresh: boolean; worker: boolean }

function sayServing({ url }: RunningServer, { data, fresh, worker }: Serving, context: CommandContext): void {
  context.sayJson({ event: 'serving', url, npm: `${url}/npm/`, data, worker })
  const { paint, symbols } = context.terminal
  const row = (name: string, value: string) => context.say(`  ${paint.dim(name.padEnd(6))}  ${safeText(value, 500)}`)
  context.say(`${paint.accent(symbols.ok)} AgentGym serves at ${paint.bold(url)}. Ctrl-C stops.`)
  row('site', `${url}/`)
  row('API', `${url}/docs`)
  row('npm', `${url}/npm/`)
  if (data !== null) row('data', displayPath(data))
  const jobs = 'checks, evaluations and training'
  row('jobs', worker ? `${jobs} by a worker beside this server` : `by workers elsewhere: agentgym worker --server URL`)
  if (!fresh) return
  const prefix = url === defaultServer ? '' : `AGENTGYM_SERVER=${url} `
  const command = `${prefix}agentgym signup --username NAME --email ADDRESS`
  context.say(`${symbols.next} The first account operates this server: ${paint.accent(command)}`)
}
