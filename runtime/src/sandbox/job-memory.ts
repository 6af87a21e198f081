import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { platform } from 'node:process'
import { promisify } from 'node:util'

/**
 * Memory in MiB that is a process's own: anonymous, shared and swapped-out pages. File pages (mapped libraries) are left
 * out: the system takes them back when it needs them. Undefined when the process is gone.
 */
export async function readProcessMemoryMb(pid: number): Promise<number | undefined> {
  if (platform !== 'linux') return readResidentMb(pid)
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    const kilobytes = ['RssAnon', 'RssShmem', 'VmSwap'].map((field) =>
      Number(status.match(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm'))?.[1] ?? 0),
    )
    return kilobytes.reduce((sum, value) => sum + value, 0) / 1024
  } catch {
    return undefined
  }
}

async function readResidentMb(pid: number): Promise<number | undefined> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)])
    return Number(stdout) / 1024
  } catch {
    return undefined
  }
}

/** A cgroup (version 2) of one job: the kernel's own wall for its memory and number of tasks. */
type MemoryGroup = { remove(): void }

/** Processes and threads of one job. */
export const MAX_TASKS = 1024

/**
 * Moves process `pid` into a cgroup of its own with `memory.max`, where this machine lets us make one: under our own
 * cgroup or beside it (a group that holds processes may not pass its controllers down). Undefined where it does not:
 * the supervisor's own watch over memory stands.
 */
export function createMemoryGroup(pid: number, memoryMb: number, root = '/sys/fs/cgroup'): MemoryGroup | undefined {
  const own = ownGroup(root)
  if (own === undefined) return undefined
  for (const parent of own === root ? [own] : [own, path.dirname(own)]) {
    const folder = path.join(parent, `agentgym-job-${pid}`)
    try {
      mkdirSync(folder)
    } catch {
      continue
    }
    try {
      writeFileSync(path.join(folder, 'memory.max'), String(memoryMb * 2 ** 20), { flag: 'r+' })
      writeFileSync(path.join(folder, 'cgroup.procs'), String(pid), { flag: 'r+' })
      tryWrite(path.join(folder, 'memory.swap.max'), '0')
      tryWrite(path.join(folder, 'pids.max'), String(MAX_TASKS))
      return { remove: () => tryRemove(folder) }
    } catch {
      tryRemove(folder)
    }
  }
  return undefined
}

function ownGroup(root: string): string | undefined {
  try {
    if (!readFileSync(path.join(root, 'cgroup.controllers'), 'utf8').includes('memory')) return undefined
    const line = readFileSync('/proc/self/cgroup', 'utf8').match(/^0::(.*)$/m)
    return line === null ? undefined : path.join(root, line[1])
  } catch {
    return undefined
  }
}

function tryWrite(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'r+' })
  } catch {
    // The controller is not handed down here.
  }
}

function tryRemove(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // The kernel refuses while the last task is still leaving; an empty group costs nothing.
  }
}
