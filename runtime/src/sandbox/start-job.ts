import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import process from 'node:process'
import type { Readable, Writable } from 'node:stream'
import { createMemoryGroup } from './job-memory.ts'
import { descriptors, openFilter, type WrappedCommand } from './walls.ts'

/** A job's process, whether it is our child or one below bubblewrap. */
export type StartedJob = {
  /** Our child: the job, or the bubblewrap around it. Its channel and its output are the job's. */
  child: ChildProcess
  /** Of the job itself, in our pid namespace; undefined until it runs and after its end. */
  pid(): number | undefined
  /** Limits its memory where the machine allows it, and lets it begin. */
  confine(memoryMb: number): Promise<ReturnType<typeof createMemoryGroup>>
  /** Exit status and signal of the job from those of our child. */
  ending(code: number | null, signal: NodeJS.Signals | null): [code: number | null, signal: NodeJS.Signals | null]
  kill(): void
  /** Kills it and waits until it is gone, so that its memory and cores are free for the next job. */
  killed(): Promise<void>
}

/**
 * Starts a job with `folder` as its working folder and `environment` beside TZ; nothing of ours is inherited but `memory`, a
 * descriptor of memory that jobs share.
 */
export function startJob(
  { command: [file, ...parameters], bubblewrap, network }: WrappedCommand,
  folder: string,
  environment: Record<string, string>,
  memory?: number,
): StartedJob {
  const filter = bubblewrap ? openFilter(folder, network) : undefined
  const unused = memory === undefined ? [] : Array<'ignore'>(descriptors.memory - descriptors.filter).fill('ignore')
  const child = spawn(file, parameters, {
    cwd: folder,
    env: { TZ: 'UTC', ...environment },
    stdio: [
      'ignore',
      'pipe',
      'pipe',
      'ipc',
      ...(bubblewrap ? [filter ?? ('ignore' as const), 'pipe' as const, 'pipe' as const] : unused),
      ...(memory === undefined ? [] : [memory]),
    ],
    serialization: 'advanced',
    // A process group of its own: Ctrl-C in a terminal reaches the whole group, and ending a run in order is ours to do.
    detached: true,
  })
  if (filter !== undefined) closeSync(filter)
  return bubblewrap ? belowBubblewrap(child) : ourChild(child)
}

function ourChild(child: ChildProcess): StartedJob {
  return {
    child,
    pid: () => child.pid,
    confine: async (memoryMb) => {
      if (child.pid === undefined) return undefined
      offerToOomKiller(child.pid)
      return createMemoryGroup(child.pid, memoryMb)
    },
    ending: (code, signal) => [code, signal],
    kill: () => void child.kill('SIGKILL'),
    killed: () => killed(child),
  }
}

/**
 * Bubblewrap stays our child and starts process 1 of the job's pid namespace, whose child is the job. It waits before
 * that, so that limits set on process 1 hold for all that follows.
 */
function belowBubblewrap(child: ChildProcess): StartedJob {
  let first: number | undefined
  let job: number | undefined
  // Process 1 binds itself to bubblewrap's life late, when it has made the file system and was told to begin. Where
  // bubblewrap is killed before, it would live on with the job's channel and output, and `close` would never come.
  child.once('exit', () => killGroup(child))
  const kill = () => {
    if (hasEnded(child)) return
    // With process 1 the kernel ends the whole namespace, and bubblewrap after it.
    if (first !== undefined) tryKill(first)
    killGroup(child)
  }
  return {
    child,
    pid: () => {
      job ??= first === undefined ? undefined : onlyChild(first)
      return job
    },
    confine: async (memoryMb) => {
      // Node types the first five only.
      const pipes = child.stdio as unknown as (Readable | Writable)[]
      first = await readChildPid(pipes[descriptors.info] as Readable)
      const start = pipes[descriptors.start] as Writable
      // Bubblewrap may have ended: its exit tells what happened.
      start.on('error', () => {})
      if (first === undefined) return undefined
      offerToOomKiller(first)
      const group = createMemoryGroup(first, memoryMb)
      start.end('x')
      return group
    },
    ending: (code, signal) => {
      // Bubblewrap reports a job that a signal ended as shells do.
      const name = code === null ? undefined : signalNames.get(code - 128)
      return name === undefined ? [code, signal] : [null, name]
    },
    kill,
    killed: async () => {
      if (first !== undefined && !hasEnded(child)) tryKill(first)
      // Process 1 is gone when bubblewrap is: it waits for it. Only one that never started it is killed itself.
      if (first === undefined) return killed(child)
      await ended(child)
    },
  }
}

const signalNames = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name as NodeJS.Signals]))

/** `{"child-pid": 123, …}`, written once; undefined where bubblewrap fails before. */
async function readChildPid(info: Readable): Promise<number | undefined> {
  let text = ''
  try {
    for await (const chunk of info) {
      text += chunk
      const pid = text.match(/"child-pid"\s*:\s*(\d+)/)?.[1]
      if (pid !== undefined && text.includes('}')) return Number(pid)
    }
  } catch {
    // It ended.
  }
  return undefined
}

/** The pid of the one child of `pid`; undefined while it has none. */
function onlyChild(pid: number): number | undefined {
  try {
    const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ')
    return pids[0] === '' ? undefined : Number(pids[0])
  } catch {
    return searchChild(pid)
  }
}

/** For kernels that do not list the children of a process. */
function searchChild(parent: number): number | undefined {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'latin1')
        .replace(/^.*\) /s, '')
        .split(' ')
      if (Number(fields[1]) === parent) return Number(name)
    } catch {
      // It has ended.
    }
  }
  return undefined
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** Every process of the group that `detached` made. Bubblewrap and what it starts stay in it. */
function killGroup(child: ChildProcess): void {
  if (child.pid !== undefined) tryKill(-child.pid)
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null
}

async function killed(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const end = ended(child)
  child.kill('SIGKILL')
  await end
}

async function ended(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  await new Promise((resolve) => child.once('exit', resolve))
}

/** When the machine runs out of memory, the job goes first, not its supervisor. */
function offerToOomKiller(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '900')
  } catch {
    // Not Linux, or not ours to change.
  }
}
