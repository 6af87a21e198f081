import { createTransport } from 'nodemailer'
import type { Mail } from '../services.ts'

/**
 * Mail over SMTP. `smtps://` is TLS from the first byte; `smtp://` turns to TLS where the server offers it, and sends a
 * password only over TLS.
 */
export function smtpMail(address: string, from: string): Mail {
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
    // A text is a text: nothing in it is read from files or addresses.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    send: async (message) => {
      await transport.sendMail({ ...message, from })
    },
  }
}
