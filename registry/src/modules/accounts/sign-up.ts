import { recordAudit } from '../../core/access/audit.ts'
import type { Services } from '../../core/services.ts'
import { sendVerification } from './account-mail.ts'
import { checkUsername } from './account-name.ts'
import { type Account, insertAccount, isFirstAccount } from './accounts.store.ts'
import { hashPassword } from './password.ts'

/**
 * Makes a user. The installation's first is its operator, unless the configuration names one. Throws `name_invalid`,
 * `name_taken`, `email_taken`, `rate_limited`.
 */
export async function signUp(
  services: Services,
  { username, email, password, ip }: { username: string; email: string; password: string; ip: string },
): Promise<Account> {
  const { database, config } = services
  // Refused before it costs a hash; whether the name is the operators' alone is only known inside the transaction.
  checkUsername(username, { operator: true })
  const passwordHash = await hashPassword(password)
  const account = await database.transaction(async (query) => {
    const operator =
      config.operator === undefined ? await isFirstAccount(database, query) : config.operator === username
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
