import { AgentGymError } from '@agentgym/contract'
import { recordAudit } from '../../core/access/audit.ts'
import { limitRate } from '../../core/access/rate-limit.ts'
import { clientNetwork } from '../../core/http/client-address.ts'
import type { Services } from '../../core/services.ts'
import { findAccountById, updateAccount } from './accounts.store.ts'
import { useMailToken } from './mail-tokens.store.ts'

/** Confirms the address that a link was sent to, if the account still has it. Throws `link_invalid`, `rate_limited`. */
export async function verifyEmail({ database }: Services, { token, ip }: { token: string; ip: string }): Promise<void> {
  await limitRate(database, `verify-email:${clientNetwork(ip)}`, { limit: 60, windowSeconds: 3_600 })
  await database.transaction(async (query) => {
    const { accountId, email } = await useMailToken(query, 'verify', token)
    const account = await findAccountById(query, accountId)
    if (account === undefined || account.email !== email)
      throw new AgentGymError({ code: 'link_invalid', message: 'This link is for an address that has changed.' })
    await updateAccount(query, accountId, { email_verified_at: new Date() })
    const actor = { accountId, tokenId: null }
    await recordAudit(query, { actor, action: 'email.verify', subject: `account:${account.username}`, ip })
  })
}
