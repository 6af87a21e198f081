import { randomUUID } from 'node:crypto'
import { mkdir, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { namingFile } from '@agentgym/contract'

/**
 * Writes a file with a secret atomically. A new file is readable by its owner only; an existing one keeps its permissions
 * unless `mode` is given. A symbolic link stays one. Throws `disk_full` and the other failures of a file system.
 */
export function writePrivateFile(path: string, text: string, mode?: number): Promise<void> {
  return namingFile(path, () => replaceFile(path, text, mode))
}

async function replaceFile(path: string, text: string, mode: number | undefined): Promise<void> {
  const target = await realpath(path).catch(() => path)
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  const present = await stat(target).catch(() => undefined)
  const temporary = join(dirname(target), `.${randomUUID()}.tmp`)
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.chmod(mode ?? (present ? present.mode & 0o777 : 0o600))
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, target)
  } finally {
    await rm(temporary, { force: true })
  }
}
