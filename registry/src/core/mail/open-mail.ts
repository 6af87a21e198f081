import { AgentGymError } from '@agentgym/contract'
import type { Log, Mail } from '../services.ts'
import { consoleMail } from './console-mail.ts'
import { fileMail } from './file-mail.ts'
import { smtpMail } from './smtp-mail.ts'

export type MailConfig = {
  /** `file`, `console` or an address such as `smtps://user:password@mail.example.org`. */
  transport: string
  /** Sender, as it stands in the header From. */
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
    // Not the value: it may hold a password.
    message: 'The mail transport is neither "file" nor "console" nor an address that begins with smtp:// or smtps://.',
    data: { field: 'mail' },
  })
}
