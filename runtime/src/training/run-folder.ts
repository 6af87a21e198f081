import { link, mkdir, open, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AgentGymError, namingFile } from '@agentgym/contract'

/**
 * Takes a folder for one run, so that two do not write each other's checkpoints. The lock names its process: a lock
 * left by a killed process is taken over. Resolves to a function that releases it.
 */
export async function lockRun(out: string): Promise<() => Promise<void>> {
  const folder = join(out, '.agentgym')
  const path = join(folder, 'lock')
  await namingFile(out, () => mkdir(folder, { recursive: true }))
  // Written beside and linked into place: the lock never exists without the number of its process in it.
  const written = `${path}.${process.pid}`
  try {
    await namingFile(written, () => writeFile(written, String(process.pid)))
    return await take(path, written, folder, out)
  } finally {
    await rm(written, { force: true })
  }
}

async function take(path: string, written: string, folder: string, out: string): Promise<() => Promise<void>> {
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      await link(written, path)
      return () => release(path, folder, out)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const holder = Number(await readFile(path, 'utf8').catch(() => ''))
    if (isAlive(holder)) throw inUse(out, holder)
    await rm(path, { force: true })
  }
  throw inUse(out, Number.NaN)
}

/** Takes the lock away, and the folders with it where the run has left nothing in them. */
async function release(path: string, ...folders: string[]): Promise<void> {
  await rm(path, { force: true })
  for (const folder of folders) {
    const kept = await rmdir(folder).then(
      () => false,
      () => true,
    )
    if (kept) return
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Another user's process: alive, but not ours to signal.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function inUse(out: string, pid: number): AgentGymError {
  return new AgentGymError({
    code: 'usage_invalid',
    message: `another run is training in ${out}${Number.isNaN(pid) ? '' : ` (process ${pid})`}`,
    hint: 'Wait for it, stop it, or choose another folder with --out.',
    data: { path: out, pid },
  })
}

/**
 * Writes a file so that a crash or a full disk leaves either the old content or the new: temporary file, fsync, rename,
 * fsync folder. Throws `disk_full` and the other failures of a file system.
 */
export function writeAtomically(path: string, content: Uint8Array | string): Promise<void> {
  return namingFile(path, () => replaceFile(path, content))
}

async function replaceFile(path: string, content: Uint8Array | string): Promise<void> {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true })
  const temporary = `${path}.${process.pid}.tmp`
  try {
    const file = await open(temporary, 'w')
    try {
      await file.writeFile(content)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  const directory = await open(folder, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
