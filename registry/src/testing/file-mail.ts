import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Mail } from '../core/services.ts'

export type SentMail = Parameters<Mail['send']>[0]

/** Mail that is delivered into a folder, one file a message; `sent` reads it back, oldest first. */
export function createFileMail(folder: string): Mail & { sent(): Promise<SentMail[]> } {
  let count = 0
  return {
    send: async (message) => {
      await mkdir(folder, { recursive: true })
      const name = `${Date.now()}-${String(++count).padStart(6, '0')}-${randomUUID()}.json`
      await writeFile(join(folder, `${name}.new`), JSON.stringify(message))
      await rename(join(folder, `${name}.new`), join(folder, name))
    },
    sent: async () => {
      await mkdir(folder, { recursive: true })
      const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort()
      return Promise.all(names.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8')) as SentMail))
    },
  }
}
