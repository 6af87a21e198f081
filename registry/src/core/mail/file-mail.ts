import { randomUUID } from 'node:crypto'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Mail } from '../services.ts'

type Message = Parameters<Mail['send']>[0]

/** Mail for a laptop: each message a file `TIME-ID.eml`, whole as soon as it has that name, for its owner's eyes only. */
export function fileMail(folder: string, from: string): Mail {
  return {
    send: async (message) => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const name = `${new Date().toISOString().replaceAll(':', '-')}-${randomUUID().slice(0, 8)}.eml`
      const unfinished = join(folder, `.${name}`)
      await writeFile(unfinished, readable(from, message), { mode: 0o600 })
      await rename(unfinished, join(folder, name))
    },
  }
}

/** A message as mail programs open it (RFC 6532), and people: nothing encoded, no link broken over lines. */
function readable(from: string, { to, subject, text }: Message): string {
  const headers = [
    ['From', from],
    ['To', to],
    ['Subject', subject],
    ['Date', new Date().toUTCString().replace('GMT', '+0000')],
    ['MIME-Version', '1.0'],
    ['Content-Type', 'text/plain; charset=utf-8'],
    ['Content-Transfer-Encoding', '8bit'],
  ]
  const lines = headers.map(([name, value]) => `${name}: ${value.replace(/[\r\n]+/g, ' ')}`)
  return `${lines.join('\n')}\n\n${text}\n`
}
