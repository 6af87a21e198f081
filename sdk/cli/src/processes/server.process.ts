// One of several processes that serve one port. `serveInProcesses` starts and controls it by messages.
import cluster from 'node:cluster'
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { GroupSnapshot, MetricsSnapshot } from '@agentgym/registry/processes'
import { readCommandPackage } from '../packages/command-package.ts'
import { openScenarioLibrary } from '../packages/library-package.ts'
import { applyServerProxy } from '../proxies/find-proxy.ts'
import type { FromProcess, ProcessStart, ToProcess } from './fork-server.ts'

/** The supervisor waits one second for the other processes. */
const groupTimeoutMs = 5_000

// Ctrl-C reaches the whole process group, and service managers signal all processes. The supervisor decides when to stop.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
// If the reader of the log is gone, requests in progress are still served.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

// In the same folder as main.ts uses. Saves nearly half of the start-up time.
enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/node', import.meta.url)))
// Loading takes longer than starting, so it happens while the first process of the group validates the settings.
const loading = Promise.all([
  import('@agentgym/registry'),
  import('@agentgym/registry/processes'),
  import('./open-built-site.ts').then(({ openBuiltSite }) => openBuiltSite()),
  readCommandPackage(),
])
loading.catch(() => {})

const stopRequested = Promise.withResolvers<void>()
const pendingGroups = new Map<number, (group: GroupSnapshot) => void>()
let requests = 0
let readMetrics: (() => Promise<MetricsSnapshot>) | undefined

process.on('message', (message: ToProcess) => {
  if (message.kind === 'start') void run(message.start)
  else if (message.kind === 'ping') void send({ kind: 'alive' })
  else if (message.kind === 'stop') stopRequested.resolve()
  else if (message.kind === 'read_metrics') void sendMetrics(message.request)
  else pendingGroups.get(message.request)?.(message.group)
})
const { worker } = cluster
worker?.on('disconnect', () => {
  // The supervisor is gone. Unless the exit is marked as intended, Node exits at once, despite requests in progress.
  worker.exitedAfterDisconnect = true
  stopRequested.resolve()
})

async function run(start: ProcessStart): Promise<void> {
  try {
    const [{ serve }, { readSettings }, site, command] = await loading
    const { port, data, environment } = start
    await applyServerProxy(readSettings({ port, data, environment }).proxy)
    const group = { process: start.process, servedPort: start.servedPort, figures: readGroup }
    const server = await serve({ port, data, environment, site, library: openScenarioLibrary, command, group })
    readMetrics = server.figures
    await send({ kind: 'serving', url: server.url, hasSite: site !== undefined })
    await stopRequested.promise
    await server.close()
    process.exit(0)
  } catch (error) {
    const { AgentGymError } = await import('@agentgym/contract')
    const report = error instanceof AgentGymError ? error.toReport() : null
    await send({ kind: 'failed', report, stack: String((error instanceof Error && error.stack) || error) })
    process.exit(1)
  }
}

async function sendMetrics(request: number): Promise<void> {
  const metrics = (await readMetrics?.().catch(() => null)) ?? null
  await send({ kind: 'metrics', request, metrics })
}

async function readGroup(): Promise<GroupSnapshot> {
  const request = requests++
  const { promise, resolve, reject } = Promise.withResolvers<GroupSnapshot>()
  const timer = setTimeout(
    () => reject(new Error('the supervisor did not report the metrics of the group')),
    groupTimeoutMs,
  )
  pendingGroups.set(request, resolve)
  try {
    await send({ kind: 'read_group', request })
    return await promise
  } finally {
    clearTimeout(timer)
    pendingGroups.delete(request)
  }
}

/** Resolves when the message is sent, or when the supervisor is gone. */
function send(message: FromProcess): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve()
    else process.send(message, undefined, undefined, () => resolve())
  })
}
