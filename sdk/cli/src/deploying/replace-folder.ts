import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { AgentGymError, namingFile } from '@agentgym/contract'

/**
 * Writes a folder that appears whole, in place of one that this command has written before: one that has `marker`. Throws
 * `config_invalid` where anything else is there.
 */
export async function replaceFolder<Result>(
  folder: string,
  marker: string,
  write: (unfinished: string) => Promise<Result>,
): Promise<Result> {
  const unfinished = `${folder}.${process.pid}.tmp`
  return await namingFile(folder, async () => {
    const present = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
      if (error.code === 'ENOENT') return []
      throw error.code === 'ENOTDIR' ? occupied(folder) : error
    })
    if (present.length > 0 && !present.includes(marker)) throw occupied(folder)
    try {
      await rm(unfinished, { recursive: true, force: true })
      await mkdir(unfinished, { recursive: true })
      const result = await write(unfinished)
      await rm(folder, { recursive: true, force: true })
      await rename(unfinished, folder)
      return result
    } finally {
      await rm(unfinished, { recursive: true, force: true })
    }
  })
}

function occupied(folder: string): AgentGymError {
  return new AgentGymError({
    code: 'config_invalid',
    message: `${folder} exists, and this command did not write it`,
    hint: 'Name a new folder with --out, or delete it first.',
    data: { path: folder },
  })
}
