import { recordAudit } from '../../core/access/audit.ts'
import { inBackground } from '../../core/scheduled-tasks/in-background.ts'
import type { Services } from '../../core/services.ts'
import { type Account, findAccountByEmail } from './accounts.store.ts'
import { createMailToken } from './mail-tokens.store.ts'

/** Mails a link that proves that the account's address is read by its owner. Does not wait for the mail to go. */
export function sendVerification({ database, mail, config, log }: Services, account: Account): void {
  const { id, username, email } = account
  if (email === null) return
  inBackground(log, 'sending a verification mail', async () => {
    const token = await createMailToken(database.query, 'verify', { id, email })
    await mail.send({
      to: email,
      subject: 'Confirm your e-mail address for AgentGym',
      text: [
        `Hello ${username},`,
        'confirm that this is your e-mail address:',
        `${config.publicUrl}/verify-email?token=${token}`,
        'The link works once, for three days. If you did not sign up, ignore this message.',
      ].join('\n\n'),
    })
  })
}

/**
 * Mails a link that sets a new password, if any account has the address. Whoever asks learns nothing of that, neither by
 * the answer nor by its time: everything happens after it.
 */
export function sendPasswordReset({ database, mail, config, log }: Services, address: string, ip: string): void {
  inBackground(log, 'sending a password reset', async () => {
    const account = await findAccountByEmail(database.query, address)
    if (account === undefined || account.email === null || account.disabled_at !== null) return
    const { id, username, email } = account
    const token = await database.transaction(async (query) => {
      const subject = `account:${username}`
      await recordAudit(query, { actor: null, action: 'password.reset_request', subject, ip })
      return createMailToken(query, 'reset', { id, email })
    })
    await mail.send({
      to: email,
      subject: 'A new password for AgentGym',
      text: [
        `Hello ${username},`,
        'choose a new password here:',
        `${config.publicUrl}/reset-password?token=${token}`,
        'The link works once, for one hour. If you did not ask for it, ignore this message: your password stays as it is.',
      ].join('\n\n'),
    })
  })
}
