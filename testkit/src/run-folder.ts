import { existsSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { inject } from 'vitest'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Folder of this run of vitest, gone when it ends: see global-setup.ts. */
    runFolder: string
  }
}

/** A folder that all test files of this run share. */
export const runFolder = (): string => inject('runFolder')

/**
 * Makes something once a run, however many test files ask for it at once, and only if one does: most runs need no
 * database. What `make` resolves to is remembered in the run's folder.
 */
export async function onceARun(name: string, make: (folder: string) => Promise<string>): Promise<string> {
  const folder = runFolder()
  const made = join(folder, `${name}.made`)
  if (existsSync(made)) return readFile(made, 'utf8')
  const lock = new DatabaseSync(join(folder, `${name}.lock`), { timeout: 0 })
  try {
    while (!tryLock(lock)) await delay(100)
    if (!existsSync(made)) {
      await writeFile(`${made}.new`, await make(folder))
      await rename(`${made}.new`, made)
    }
    return await readFile(made, 'utf8')
  } finally {
    lock.close()
  }
}

function tryLock(lock: DatabaseSync): boolean {
  try {
    lock.exec('begin exclusive')
    return true
  } catch {
    return false
  }
}
