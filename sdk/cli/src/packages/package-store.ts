import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { integrityOf } from '@agentgym/client'
import { agentGymHome } from '../account/agentgym-home.ts'
import { unpackPackage } from './unpack-package.ts'

const tarballName = 'package.tgz'

/** Where a package of that integrity lies on this machine; every project shares it. */
export function storedFolder(integrity: string): string {
  const hex = Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex')
  return join(agentGymHome(), 'packages', hex)
}

/** The folder of a package that lies here whole; null where it does not, or where somebody has changed its tarball. */
export async function findStored(integrity: string): Promise<string | null> {
  const folder = storedFolder(integrity)
  if (!existsSync(folder)) return null
  const bytes = await readFile(join(folder, tarballName)).catch(() => undefined)
  return bytes && (await integrityOf(bytes)) === integrity ? folder : null
}

/** Puts a package whose integrity has been checked into the store, whole or not at all. */
export async function storePackage(tarball: Uint8Array, integrity: string): Promise<string> {
  const folder = storedFolder(integrity)
  const temporary = `${folder}.${randomUUID()}.tmp`
  await mkdir(temporary, { recursive: true, mode: 0o700 })
  try {
    await unpackPackage(tarball, temporary)
    await writeFile(join(temporary, tarballName), tarball)
    if ((await findStored(integrity)) === null) await rm(folder, { recursive: true, force: true })
    await rename(temporary, folder).catch(async (error) => {
      // Another install put it there first: the name is its content.
      if ((await findStored(integrity)) === null) throw error
    })
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
  return folder
}
