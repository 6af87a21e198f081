import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { AgentGymError } from '@agentgym/contract'

/** The process that holds a folder, for the error message of the next one. */
type Holder = { pid: number; started: string }

const processStarted = new Date(Date.now() - process.uptime() * 1000).toISOString()
const sqliteBusy = 5

/**
 * Locks a folder for this process, because PGlite lets two processes write to one folder and silently loses the writes
 * of one. The lock is the kernel's (SQLite's lock on an empty file): it ends with its process for any reason, cannot be
 * confused with another process of the same number, and holds between containers that share the folder but not their
 * process numbers. A file next to it names the holder, for people to read.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  // Accessible to the owner only, whatever the umask.
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const holderFile = join(folder, 'holder.json')
  const lock = new DatabaseSync(join(folder, 'lock'), { timeout: 0 })
  try {
    lock.exec('begin exclusive')
  } catch (error) {
    lock.close()
    if ((error as { errcode?: unknown }).errcode !== sqliteBusy) throw error
    throw inUse(folder, await readHolder(holderFile), error)
  }
  await writeFile(holderFile, JSON.stringify({ pid: process.pid, started: processStarted } satisfies Holder))
  return async () => {
    await rm(holderFile, { force: true })
    lock.close()
  }
}

/** Undefined if the holder has not written it yet or is just releasing the folder. */
async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Holder
  } catch {
    return undefined
  }
}

function inUse(folder: string, holder: Holder | undefined, cause: unknown): AgentGymError {
  const who = holder ? `process ${holder.pid}, started ${holder.started}` : 'another process'
  return new AgentGymError(
    {
      code: 'database_in_use',
      message: `The database in ${folder} is in use by ${who}.`,
      hint: 'Stop that process, choose another folder with --data, or set DATABASE_URL: several processes can share PostgreSQL.',
      data: { path: folder, ...holder },
    },
    { cause },
  )
}
