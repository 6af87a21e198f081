import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { integrityOf } from '@agentgym/client'
import { namingFile } from '@agentgym/contract'
import { readPackage } from './read-package.ts'

const tarballName = 'package.tgz'

/** The folder of a package with this integrity, shared by all projects. */
function storedFolder(integrity: string, home: string): string {
  const hex = Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex')
  return join(home, 'packages', hex)
}

/** The folder of a stored package if all its files are intact; null otherwise. */
export async function findStored(integrity: string, home: string): Promise<string | null> {
  const folder = storedFolder(integrity, home)
  const tarball = await readFile(join(folder, tarballName)).catch(() => undefined)
  if (tarball === undefined || (await integrityOf(tarball)) !== integrity) return null
  for (const [path, bytes] of await readPackage(tarball)) {
    const present = await readFile(join(folder, path)).catch(() => undefined)
    if (present === undefined || !present.equals(bytes)) return null
  }
  return folder
}

/** Stores a package whose integrity was verified, atomically. */
export async function storePackage(tarball: Uint8Array, integrity: string, home: string): Promise<string> {
  const folder = storedFolder(integrity, home)
  const temporary = `${folder}.${randomUUID()}.tmp`
  const files = await readPackage(tarball)
  try {
    await namingFile(folder, async () => {
      await mkdir(temporary, { recursive: true, mode: 0o700 })
      for (const [path, bytes] of files) {
        await mkdir(dirname(join(temporary, path)), { recursive: true })
        await writeFile(join(temporary, path), bytes)
      }
      await writeFile(join(temporary, tarballName), tarball)
    })
    await putInPlace(temporary, folder, () => findStored(integrity, home))
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
  return folder
}

/** By renaming, which is atomic: other installs may do the same at the same time. */
async function putInPlace(temporary: string, folder: string, findIntact: () => Promise<string | null>): Promise<void> {
  const moved = async () => {
    try {
      await rename(temporary, folder)
      return true
    } catch (error) {
      // Another install was first. The name is the content hash, so an intact folder is the same package.
      if ((await findIntact()) !== null) return true
      if (!existsSync(folder)) throw error
      return false
    }
  }
  if (await moved()) return
  const damaged = `${folder}.${randomUUID()}.tmp`
  await rename(folder, damaged)
  await rm(damaged, { recursive: true, force: true })
  if (!(await moved())) throw new Error(`${folder} cannot be replaced`)
}
