import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'

/** What a process of the fleet said before it ended, for a test that failed. */
const logLines = 200

export type Fleet = {
  readonly url: string
  /** Folder of what is not in a database elsewhere. */
  readonly data: string
  startWorker(token: string): void
  kill(victim: 'server' | 'worker' | 'trainer'): Promise<boolean>
  /** Starts whatever was killed again. */
  mend(): Promise<void>
  signalWorker(signal: NodeJS.Signals): void
  /** Last lines of server and worker, for the message of a failure. */
  log(): string
  close(): Promise<void>
}

/**
 * A server and a worker in processes of their own, as an operator runs them, that can be killed at any moment: on the
 * PostgreSQL database at `databaseUrl`, or embedded where it is left out.
 */
export async function startFleet({ databaseUrl }: { databaseUrl?: string } = {}): Promise<Fleet> {
  const data = mkdtempSync(path.join(tmpdir(), 'agentgym-fleet-'))
  const lines: string[] = []
  const record = (who: string, child: ChildProcess) => {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(`${who}: ${line.slice(0, 400)}`)
        if (lines.length > logLines) lines.shift()
      })
    }
  }
  const environment: NodeJS.ProcessEnv = { ...process.env, AGENTGYM_LOG_LEVEL: 'warn' }
  if (databaseUrl === undefined) delete environment.DATABASE_URL
  else environment.DATABASE_URL = databaseUrl
  let port = '0'
  const startServer = async (): Promise<{ child: ChildProcess; url: string }> => {
    const entry = new URL('./server.process.ts', import.meta.url)
    const child = fork(entry, [data, port], { env: environment, silent: true })
    record('server', child)
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the server ended with ${code}:\n${lines.join('\n')}`)
    })
    const [{ url }] = (await Promise.race([once(child, 'message'), ended])) as [{ url: string }]
    ended.catch(() => {})
    return { child, url }
  }
  let { child: server, url } = await startServer()
  port = new URL(url).port
  let worker: ChildProcess | undefined
  let workerToken: string | undefined
  const startWorker = (token: string) => {
    workerToken = token
    const entry = path.join(import.meta.dirname, 'worker.process.ts')
    worker = spawn(process.execPath, ['--no-node-snapshot', entry, url, token], { stdio: ['ignore', 'pipe', 'pipe'] })
    record('worker', worker)
  }
  return {
    url,
    data,
    startWorker,
    kill: async (victim) => {
      if (victim === 'trainer') {
        const trainer = worker?.pid === undefined ? undefined : trainerOf(worker.pid)
        if (trainer === undefined) return false
        process.kill(trainer, 'SIGKILL')
        return true
      }
      const child = victim === 'server' ? server : worker
      if (child === undefined || hasEnded(child)) return false
      child.kill('SIGKILL')
      await once(child, 'exit')
      return true
    },
    mend: async () => {
      if (hasEnded(server)) ({ child: server, url } = await startServer())
      if (workerToken !== undefined && (worker === undefined || hasEnded(worker))) startWorker(workerToken)
    },
    signalWorker: (signal) => void worker?.kill(signal),
    log: () => lines.join('\n'),
    close: async () => {
      for (const child of [worker, server]) {
        if (child === undefined || hasEnded(child)) continue
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      rmSync(data, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

/** The process that trains: the youngest process below the worker that runs `training.process.ts`. */
function trainerOf(worker: number): number | undefined {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    if (!Number.isInteger(pid)) continue
    const parent = parentOf(pid)
    if (parent !== undefined) parents.set(pid, parent)
  }
  const below = (pid: number): boolean => {
    const parent = parents.get(pid)
    return parent !== undefined && (parent === worker || below(parent))
  }
  return [...parents.keys()].filter((pid) => below(pid) && isNode(pid)).sort((a, b) => b - a)[0]
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[1],
    )
  } catch {
    return undefined
  }
}

function isNode(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('training.process')
  } catch {
    return false
  }
}
