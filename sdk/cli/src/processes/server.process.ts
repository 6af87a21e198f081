// One of several processes that serve one port. `serveInProcesses` starts it, and tells it everything by messages.
import cluster from 'node:cluster'
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { GroupFigures, ProcessFigures } from '@agentgym/registry/processes'
import type { FromProcess, ProcessStart, ToProcess } from './fork-server.ts'

/** The supervisor gives the others one second. */
const groupMs = 5_000

// Ctrl-C reaches the terminal's whole group, and what ends a service often all its processes. The supervisor says when.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
// Where the log's reader went away, requests under way are still answered.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

// As main.ts has it, in the same folder: nearly half of the start.
enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/node', import.meta.url)))
// Loading takes longer than starting: it goes on while the first of the group finds out whether there is to be a start.
const loading = Promise.all([
  import('@agentgym/registry'),
  import('./open-built-site.ts').then(({ openBuiltSite }) => openBuiltSite()),
])
loading.catch(() => {})

const toldToStop = Promise.withResolvers<void>()
const awaited = new Map<number, (group: GroupFigures) => void>()
let requests = 0
let readFigures: (() => Promise<ProcessFigures>) | undefined

process.on('message', (message: ToProcess) => {
  if (message.kind === 'start') void run(message.start)
  else if (message.kind === 'stop') toldToStop.resolve()
  else if (message.kind === 'read_figures') void answerFigures(message.request)
  else awaited.get(message.request)?.(message.group)
})
const { worker } = cluster
worker?.on('disconnect', () => {
  // The supervisor is gone. Unless this looks as if it was meant, Node exits at once, whatever requests are under way.
  worker.exitedAfterDisconnect = true
  toldToStop.resolve()
})

async function run(start: ProcessStart): Promise<void> {
  try {
    const [{ serve }, site] = await loading
    const { port, data, environment } = start
    const group = { process: start.process, servedPort: start.servedPort, figures: askGroup }
    const server = await serve({ port, data, environment, site, group })
    readFigures = server.figures
    await send({ kind: 'serving', url: server.url, hasSite: site !== undefined })
    await toldToStop.promise
    await server.close()
    process.exit(0)
  } catch (error) {
    const { AgentGymError } = await import('@agentgym/contract')
    const report = error instanceof AgentGymError ? error.toReport() : null
    await send({ kind: 'failed', report, stack: String((error instanceof Error && error.stack) || error) })
    process.exit(1)
  }
}

async function answerFigures(request: number): Promise<void> {
  const figures = (await readFigures?.().catch(() => null)) ?? null
  await send({ kind: 'figures', request, figures })
}

async function askGroup(): Promise<GroupFigures> {
  const request = requests++
  const { promise, resolve, reject } = Promise.withResolvers<GroupFigures>()
  const timer = setTimeout(() => reject(new Error('the supervisor gave no figures of the group')), groupMs)
  awaited.set(request, resolve)
  try {
    await send({ kind: 'ask_group', request })
    return await promise
  } finally {
    clearTimeout(timer)
    awaited.delete(request)
  }
}

/** Resolves once it is sent, or cannot be: who is not there any more need not be told. */
function send(message: FromProcess): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve()
    else process.send(message, undefined, undefined, () => resolve())
  })
}
