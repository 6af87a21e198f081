import { AgentGymError } from '@agentgym/contract'
import { recordAudit } from '../../core/access/audit.ts'
import { limitRate } from '../../core/access/rate-limit.ts'
import { clientNetwork } from '../../core/http/client-address.ts'
import { sendLetter } from '../../core/mail/send-letter.ts'
import { inBackground } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { checkUsername } from './account-name.ts'
import { type Account, findAccountByEmail, findAccountById, insertAccount, updateAccount } from './accounts.store.ts'
import { claimByFirstAccount } from './claim.ts'
import { hashPassword } from './log-in.ts'
import { createMailToken, useMailToken } from './mail-tokens.store.ts'

type NewUser = {
  username: string
  email: string
  password: string
  ip: string
  /** Whether the request comes from this machine: see `claimByFirstAccount`. */
  local: boolean
}

/** Creates a user. Throws `name_invalid`, `name_taken`, `email_taken`, `rate_limited`. */
export async function signUp(services: Services, { username, email, password, ip, local }: NewUser): Promise<Account> {
  const { database } = services
  // Refused before the cost of a hash. Whether the name is reserved for operators is only known inside the transaction.
  checkUsername(username, { operator: true })
  const passwordHash = await hashPassword(password)
  const account = await database.transaction(async (query) => {
    const operator = await claimByFirstAccount(services, query, { local })
    checkUsername(username, { operator })
    const made = await insertAccount(query, { kind: 'user', username, email, passwordHash, operator })
    await recordAudit(query, {
      actor: { accountId: made.id, tokenId: null },
      action: 'account.create',
      subject: `account:${username}`,
      ip,
      data: operator ? { operator } : {},
    })
    return made
  })
  sendVerification(services, account)
  return account
}

/**
 * Confirms the address that a link was sent to, if the account still uses it. Throws `link_invalid`, `rate_limited`.
 */
export async function verifyEmail({ database }: Services, { token, ip }: { token: string; ip: string }): Promise<void> {
  await limitRate(database, `verify-email:${clientNetwork(ip)}`, { limit: 60, windowSeconds: 3_600 })
  await database.transaction(async (query) => {
    const { accountId, email } = await useMailToken(query, 'verify', token)
    const account = await findAccountById(query, accountId)
    if (account === undefined || account.email !== email)
      throw new AgentGymError({ code: 'link_invalid', message: 'This link is for an email address that has changed.' })
    await updateAccount(query, accountId, { email_verified_at: new Date() })
    const actor = { accountId, tokenId: null }
    await recordAudit(query, { actor, action: 'email.verify', subject: `account:${account.username}`, ip })
  })
}

/** Sends a link that verifies the account's email address. Does not wait for delivery. */
export function sendVerification({ database, mail, config, log }: Services, account: Account): void {
  const { id, username, email } = account
  if (email === null) return
  inBackground(log, 'sending a verification mail', async () => {
    const token = await createMailToken(database.query, 'verify', { id, email })
    await sendLetter(mail, {
      to: { username, email },
      subject: 'Verify your email address for AgentGym',
      paragraphs: [
        'verify your email address:',
        `${config.publicUrl}/verify-email?token=${token}`,
        'The link can be used once, within three days. If you did not sign up, ignore this message.',
      ],
    })
  })
}

/**
 * Sends a link for setting a new password, if an account uses the address. Neither the response nor its timing reveals
 * whether one does, because all work happens after the response.
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
    await sendLetter(mail, {
      to: { username, email },
      subject: 'Reset your AgentGym password',
      paragraphs: [
        'choose a new password here:',
        `${config.publicUrl}/reset-password?token=${token}`,
        'The link can be used once, within one hour. If you did not request it, ignore this message; your password is unchanged.',
      ],
    })
  })
}
