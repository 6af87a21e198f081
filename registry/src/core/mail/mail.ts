import { randomUUID } from 'node:crypto'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentGymError } from '@agentgym/contract'
import { createTransport } from 'nodemailer'
import type { Log, Mail, MailMessage } from '../services.ts'

type MailConfig = {
  /** `file`, `console` or an address such as `smtps://user:password@mail.example.org`. */
  transport: string
  /** Sender, as in the From header. */
  from: string
  /** Where `file` puts messages. */
  folder: string
  log: Log
}

/** The transport that the configuration names. Throws `config_invalid` for one that does not exist. */
export function openMail({ transport, from, folder, log }: MailConfig): Mail {
  if (transport === 'file') return fileMail(folder, from)
  if (transport === 'console') return consoleMail(log)
  if (/^smtps?:\/\/[^/]/.test(transport) && URL.canParse(transport)) return smtpMail(transport, from)
  throw new AgentGymError({
    code: 'config_invalid',
    // Without the value, which may contain a password.
    message: 'The mail transport must be "file", "console" or an smtp:// or smtps:// URL.',
    data: { field: 'mail' },
  })
}

/**
 * Mail for development: writes messages to the log, including links. The only place that logs secrets on purpose, so it
 * is opt-in.
 */
function consoleMail(log: Log): Mail {
  return {
    send: async ({ to, subject, text }) => log.info('mail', { to, subject, text }),
  }
}

/**
 * Mail for local use: each message is a file `TIME-ID.eml`, complete once it has that name, readable by its owner only.
 */
function fileMail(folder: string, from: string): Mail {
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

/** A message that mail programs and people can read (RFC 6532): not encoded, no link broken over lines. */
function readable(from: string, message: MailMessage): string {
  const { to, subject, text, headers: more = {} } = message
  const headers = [
    ['From', from],
    ['To', to],
    ['Subject', subject],
    ['Date', new Date().toUTCString().replace('GMT', '+0000')],
    ...(message.id === undefined ? [] : [['Message-ID', messageId(from, message.id)]]),
    ...Object.entries(more),
    ['MIME-Version', '1.0'],
    ['Content-Type', 'text/plain; charset=utf-8'],
    ['Content-Transfer-Encoding', '8bit'],
  ]
  const lines = headers.map(([name, value]) => `${name}: ${value.replace(/[\r\n]+/g, ' ')}`)
  return `${lines.join('\n')}\n\n${text}\n`
}

/** At the sender's domain. */
function messageId(from: string, id: string): string {
  return `<${id}@${/@([\w.-]+)/.exec(from)?.[1] ?? 'agentgym'}>`
}

/**
 * Mail over SMTP. `smtps://` is TLS from the first byte; `smtp://` upgrades to TLS if the server offers it, and sends a
 * password only over TLS.
 */
function smtpMail(address: string, from: string): Mail {
  const url = new URL(address)
  const transport = createTransport({
    host: url.hostname,
    port: url.port === '' ? (url.protocol === 'smtps:' ? 465 : 587) : Number(url.port),
    secure: url.protocol === 'smtps:',
    requireTLS: url.protocol === 'smtp:' && url.username !== '',
    ...(url.username === ''
      ? {}
      : { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } }),
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
    // Plain text only: nothing in it is read from files or URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    send: async ({ to, subject, text, headers, id }) => {
      const known = id === undefined ? {} : { messageId: messageId(from, id) }
      await transport.sendMail({ from, to, subject, text, headers: headers ?? {}, ...known })
    },
  }
}
