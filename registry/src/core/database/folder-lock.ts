import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { AgentGymError } from '@agentgym/contract'

/** Who holds a folder, for the message that refuses the next one. */
type Holder = { pid: number; started: string }

const processStarted = new Date(Date.now() - process.uptime() * 1000).toISOString()
const sqliteBusy = 5

/**
 * Takes a folder for this process, for PGlite lets two processes write one folder and silently loses what one of them
 * wrote. The lock is the kernel's (SQLite's lock on a file that stays empty): it ends with its process however that ends,
 * is never mistaken for that of another process with the same number, and also holds between containers that share the
 * folder but not their process numbers. Beside it lies a file that says who holds it, for people.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  // For its owner alone, also where the operating system's default is wider.
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

/** Undefined where the holder has not written it yet, or is just giving the folder back. */
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
