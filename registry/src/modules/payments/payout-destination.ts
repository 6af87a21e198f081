import type { payoutDestinationSchema } from '@agentgym/contract'
import type { Selectable } from 'kysely'
import type { z } from 'zod'
import { recordAudit } from '../../core/access/audit.ts'
import type { Actor } from '../../core/access/authorize.ts'
import { limitRate } from '../../core/access/rate-limit.ts'
import type { Queries } from '../../core/database/database.ts'
import type { PayoutDestinationTable } from '../../core/database/market-schema.ts'
import type { Services } from '../../core/services.ts'
import { findParty, type Party } from '../accounts/index.ts'
import { type PaymentServices, providerName } from './payment-provider.ts'

export type DestinationRow = Selectable<PayoutDestinationTable>
type Shown = z.infer<typeof payoutDestinationSchema>

/** The payout destination of an account. Throws `unauthenticated`, `forbidden`, `account_not_found`. */
export async function showPayoutDestination(
  services: PaymentServices,
  actor: Actor | null,
  account: string | undefined,
): Promise<Shown> {
  const { database } = services
  const party = await findParty(database.query, actor, account, { permission: 'manage', scope: 'market:sell' })
  const row = await findDestination(database.query, services, party.id)
  return shown(services, party, row ?? null, null)
}

/**
 * Creates the seller's account at the provider if there is none, and returns the URL of its form if it is incomplete.
 * The destination cannot be changed to another account, so that a stolen token cannot redirect earnings. Throws like
 * `showPayoutDestination`, and `rate_limited`, `payment_provider_unavailable`.
 */
export async function openPayoutDestination(
  services: PaymentServices,
  actor: Actor | null,
  { account, ip }: { account: string | undefined; ip: string },
): Promise<Shown> {
  const { database, config } = services
  const party = await findParty(database.query, actor, account, { permission: 'manage', scope: 'market:sell' })
  await limitRate(database, `payout-destination:${party.id}`, { limit: 20, windowSeconds: 3_600 })
  const provider = await services.paymentProvider()
  let row = await findDestination(database.query, services, party.id)
  if (row === undefined) {
    const { providerAccount } = await provider.createDestination({
      accountId: party.id,
      email: await emailOf(database.query, actor?.accountId ?? party.id),
    })
    row = await keepDestination(services, { actor, party, providerAccount, ip })
  }
  const destination = await provider.readDestination(row.provider_account, `${config.publicUrl}/earnings`)
  const kept = await keepState(database.query, destination)
  return shown(services, party, kept ?? row, destination.onboardingUrl)
}

/** The destination at the current provider: an account at another provider cannot be paid. */
export async function findDestination(
  query: Queries,
  services: Pick<Services, 'config'>,
  accountId: string,
): Promise<DestinationRow | undefined> {
  return query
    .selectFrom('payout_destinations')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('provider', '=', providerName(services))
    .executeTakeFirst()
}

/** Updates a seller's account from the provider after a change. Does nothing for an unknown account. */
export async function refreshDestinationOf(services: PaymentServices, providerAccount: string): Promise<void> {
  const { database, config } = services
  const known = await database.query
    .selectFrom('payout_destinations')
    .select('account_id')
    .where('provider', '=', providerName(services))
    .where('provider_account', '=', providerAccount)
    .executeTakeFirst()
  if (known === undefined) return
  const provider = await services.paymentProvider()
  await keepState(database.query, await provider.readDestination(providerAccount, `${config.publicUrl}/earnings`))
}

type Kept = { actor: Actor | null; party: Party; providerAccount: string; ip: string }

/** If two are created concurrently, one is kept. An account at a previous provider is replaced. */
async function keepDestination(
  services: PaymentServices,
  { actor, party, providerAccount, ip }: Kept,
): Promise<DestinationRow> {
  const provider = providerName(services)
  const { database } = services
  return database.transaction(async (query) => {
    // Concurrent requests get the same account from the provider: the unique constraint on it, which the conflict below
    // does not cover, would fail one of two inserts that meet.
    await database.lock(query, `payout-destination:${party.id}`)
    const inserted = await query
      .insertInto('payout_destinations')
      .values({ account_id: party.id, provider, provider_account: providerAccount })
      .onConflict((conflict) =>
        conflict
          .column('account_id')
          .doUpdateSet({ provider, provider_account: providerAccount, ready: false, payee: null })
          .where('payout_destinations.provider', '<>', provider),
      )
      .returningAll()
      .executeTakeFirst()
    const row = inserted ?? (await findDestination(query, services, party.id))
    if (row === undefined) throw new Error(`the payout destination of ${party.username} is gone`)
    if (inserted !== undefined)
      await recordAudit(query, {
        ...{ actor, action: 'payout-destination.open', subject: `account:${party.username}`, ip },
        data: { provider, provider_account: providerAccount },
      })
    return row
  })
}

async function keepState(
  query: Queries,
  { providerAccount, ready, payee }: { providerAccount: string; ready: boolean; payee: string | null },
): Promise<DestinationRow | undefined> {
  return query
    .updateTable('payout_destinations')
    .set({ ready, payee })
    .where('provider_account', '=', providerAccount)
    .returningAll()
    .executeTakeFirst()
}

async function emailOf(query: Queries, accountId: string): Promise<string | null> {
  const row = await query.selectFrom('accounts').select('email').where('id', '=', accountId).executeTakeFirst()
  return row?.email ?? null
}

function shown(
  services: Pick<Services, 'config'>,
  { username }: Party,
  row: DestinationRow | null,
  onboardingUrl: string | null,
): Shown {
  return {
    account: username,
    provider: providerName(services),
    ready: row?.ready ?? false,
    onboarding_url: onboardingUrl,
  }
}
