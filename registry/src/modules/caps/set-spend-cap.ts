import { AgentGymError, type putSpendCapRequestSchema, type SpendCap } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import type { z } from 'zod'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, requireActor } from '../../core/access/authorise.ts'
import { roleIn } from '../../core/access/memberships.store.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import { findParty } from '../accounts/organisations.ts'
import { requireUncapped } from '../accounts/tokens.store.ts'
import { type CapView, listCaps, spentMinor } from './spend-caps.store.ts'

type Base = Pick<Services, 'database' | 'config'>
type Asking = { actor: Actor | null; ip: string | null }

/**
 * Sets what an account, or one of one's own tokens, may spend within a period; another cap for the same period gives way.
 * Throws `account_not_found`, `forbidden`, `token_not_found`.
 */
export async function setSpendCap(
  { database, config }: Base,
  { actor, ip, request }: Asking & { request: z.output<typeof putSpendCapRequestSchema> },
): Promise<SpendCap> {
  const { token_id: tokenId = null, period, amount_minor: amountMinor, account } = request
  return database.transaction(async (query) => {
    const known = requireActor(actor, 'account:manage')
    await requireUncapped(query, known)
    const party = await findParty(query, known, account, { permission: 'manage', scope: 'account:manage' })
    if (tokenId !== null) await requireOwnToken(query, party.id, tokenId)
    const { id } = await query
      .insertInto('spend_caps')
      .values({ account_id: party.id, token_id: tokenId, period, amount_minor: amountMinor, set_by: known.accountId })
      .onConflict((conflict) =>
        conflict.constraint('spend_caps_key').doUpdateSet({ amount_minor: amountMinor, set_by: known.accountId }),
      )
      .returning('id')
      .executeTakeFirstOrThrow()
    await recordAudit(query, {
      ...{ actor: known, ip, action: 'spend-cap.set', subject: `account:${party.username}` },
      data: { token: tokenId, period, amount_minor: amountMinor },
    })
    const [cap] = await listCaps(query, { accountId: party.id, id })
    return describe(query, cap, config.training.currency)
  })
}

/** Caps of an account and of its tokens, with what is spent of each. Throws `account_not_found`, `forbidden`. */
export async function spendCapsOf(
  { database: { query }, config }: Base,
  { actor, account }: { actor: Actor | null; account: string | undefined },
): Promise<{ caps: SpendCap[] }> {
  const party = await findParty(query, actor, account, { permission: 'publish', scope: 'market:buy' })
  const caps = await listCaps(query, { accountId: party.id })
  return { caps: await Promise.all(caps.map((cap) => describe(query, cap, config.training.currency))) }
}

/** Throws `spend_cap_not_found`, the same for others' caps; `forbidden`. */
export async function removeSpendCap(
  { database }: Pick<Services, 'database'>,
  { actor, ip, id }: Asking & { id: string },
): Promise<void> {
  await database.transaction(async (query) => {
    const known = requireActor(actor, 'account:manage')
    await requireUncapped(query, known)
    const cap = await query.selectFrom('spend_caps').selectAll().where('id', '=', id).executeTakeFirst()
    if (cap === undefined || !(await manages(query, known, cap.account_id))) throw notFound(id)
    await query.deleteFrom('spend_caps').where('id', '=', id).execute()
    await recordAudit(query, {
      ...{ actor: known, ip, action: 'spend-cap.remove', subject: `account:${cap.account_id}` },
      data: { token: cap.token_id, period: cap.period, amount_minor: cap.amount_minor },
    })
  })
}

async function describe(query: Queries, cap: CapView, currency: string): Promise<SpendCap> {
  return {
    id: cap.id,
    account: cap.account,
    token: cap.token_id === null ? null : { id: cap.token_id, name: cap.token_name ?? '' },
    period: cap.period,
    amount_minor: cap.amount_minor,
    spent_minor: await spentMinor(query, cap, currency),
  }
}

async function manages(query: Transaction<Schema>, { accountId }: Actor, account: string): Promise<boolean> {
  if (account === accountId) return true
  const role = await roleIn(query, account, accountId, { hold: true })
  return role === 'owner' || role === 'admin'
}

async function requireOwnToken(query: Queries, accountId: string, id: string): Promise<void> {
  const token = await query
    .selectFrom('tokens')
    .select('id')
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  if (token === undefined)
    throw new AgentGymError({
      code: 'token_not_found',
      message: `The account has no token ${id}.`,
      hint: 'Your tokens are listed on the site, under Settings. Organizations have no tokens.',
      data: { id },
    })
}

function notFound(id: string): AgentGymError {
  return new AgentGymError({
    code: 'spend_cap_not_found',
    message: `There is no spend cap ${id}, or it is not yours to change.`,
    data: { id },
  })
}
