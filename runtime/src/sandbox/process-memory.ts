import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
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
