import { randomUUID } from 'node:crypto'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Mail } from '../../server/services.ts'
import { composeMail } from './compose-mail.ts'

/** Mail for a laptop: each message a file `TIME-ID.eml`, whole as soon as it has that name, for its owner's eyes only. */
export function fileMail(folder: string, from: string): Mail {
  return {
    send: async (message) => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const name = `${new Date().toISOString().replaceAll(':', '-')}-${randomUUID().slice(0, 8)}.eml`
      const unfinished = join(folder, `.${name}`)
      await writeFile(unfinished, await composeMail({ ...message, from }), { mode: 0o600 })
      await rename(unfinished, join(folder, name))
    },
  }
}
