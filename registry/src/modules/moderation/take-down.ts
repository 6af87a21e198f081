import type { moderationSchema, takeDownRequestSchema } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import type { z } from 'zod'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, authorize, requireActor, requireOperator } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import { sendLetter } from '../../core/mail/send-letter.ts'
import { inBackground } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { recordEvent } from '../events/index.ts'
import { findReadablePackage, lockPackage, type PackageRow } from '../packages/index.ts'
import { giveOwedRefunds, oweRefunds } from './owed-refunds.ts'

/** Purchases within this many days are refunded. */
const refundedDays = 30
const millisecondsADay = 86_400_000

export type Moderated = Pick<PackageRow, 'id' | 'name' | 'owner_id'>
export type Deciding = { actor: Actor; reason: string; ip: string }

/**
 * Takes a package down: it can no longer be found, bought or installed. Buyers keep it, unless `forAll`; then, and with
 * `refund`, the buyers of the last 30 days get a refund. If it was already down, only the additional
 * steps are done. Requires the package's lock.
 */
export async function takeDown(
  query: Transaction<Schema>,
  { id, name, owner_id: accountId }: Moderated,
  { actor, reason, ip, forAll, refund }: Deciding & { forAll: boolean; refund: boolean },
): Promise<void> {
  const now = sql<Date>`now()`
  const changed = await query
    .updateTable('packages')
    .set((eb) => ({
      taken_down_at: eb.fn.coalesce('taken_down_at', now),
      taken_down_reason: reason,
      taken_down_for_all: sql<boolean>`taken_down_for_all or ${forAll}`,
    }))
    .where('id', '=', id)
    .where(({ or, eb }) =>
      or([eb('taken_down_at', 'is', null), ...(forAll ? [eb('taken_down_for_all', '=', false)] : [])]),
    )
    .executeTakeFirst()
  const isNew = changed.numUpdatedRows > 0n
  if (refund || (forAll && isNew)) {
    const paidSince = new Date(Date.now() - refundedDays * millisecondsADay)
    await oweRefunds(query, { packageId: id, versionId: null, paidSince, reason: `It was taken down: ${reason}` })
  }
  if (isNew || refund)
    await recordAudit(query, {
      ...{ actor, ip, action: 'package.take_down', subject: name },
      data: { reason, for_all: forAll, refund: refund || forAll },
    })
  if (isNew)
    await recordEvent(query, {
      type: 'package.taken_down',
      accountId,
      data: { package: name, reason, for_all: forAll },
    })
}

/** Restores it if it is taken down, and upholds every pending appeal. Requires the package's lock. */
export async function restore(
  query: Transaction<Schema>,
  { id, name, owner_id: accountId }: Moderated,
  { actor, reason, ip }: Deciding,
): Promise<void> {
  const changed = await query
    .updateTable('packages')
    .set({ taken_down_at: null, taken_down_reason: null, taken_down_for_all: false })
    .where('id', '=', id)
    .where('taken_down_at', 'is not', null)
    .executeTakeFirst()
  await query
    .updateTable('reports')
    .set({ state: 'upheld', decided_by: actor.accountId, decision: reason, decided_at: sql<Date>`now()` })
    .where('package_id', '=', id)
    .where('reason', '=', 'appeal')
    .where('review_id', 'is', null)
    .where('demonstration_id', 'is', null)
    .where('state', '=', 'open')
    .execute()
  if (changed.numUpdatedRows === 0n) return
  await recordAudit(query, { actor, ip, action: 'package.restore', subject: name, data: { reason } })
  await recordEvent(query, { type: 'package.restored', accountId, data: { package: name, reason } })
}

const scope = 'packages:manage'

type Moderating = { actor: Actor | null; name: string; ip: string }
export type Moderation = z.infer<typeof moderationSchema>

/** For operators. Throws `package_not_found`, also for a private package of another account. */
export async function takeDownPackage(
  services: Services,
  { actor, name, ip }: Moderating,
  { reason, refund, for_all: forAll }: z.output<typeof takeDownRequestSchema>,
): Promise<Moderation> {
  const known = requireOperator(actor, scope)
  const moderation = await change(services, known, name, (query, found) =>
    takeDown(query, found, { actor: known, reason, ip, forAll, refund }),
  )
  inBackground(services.log, 'giving refunds', () => giveOwedRefunds(services))
  return moderation
}

/** For operators. Throws like `takeDownPackage`. */
export async function restorePackage(
  services: Services,
  { actor, name, ip }: Moderating,
  { reason }: { reason: string },
): Promise<Moderation> {
  const known = requireOperator(actor, scope)
  return change(services, known, name, (query, found) => restore(query, found, { actor: known, reason, ip }))
}

type Found = Awaited<ReturnType<typeof findReadablePackage>>

async function change(
  { database }: Services,
  actor: Actor,
  name: string,
  work: (query: Transaction<Schema>, found: Found) => Promise<void>,
): Promise<Moderation> {
  return database.transaction(async (query) => {
    const found = await findReadablePackage(query, actor, name)
    await lockPackage(database, query, found.name)
    await work(query, found)
    return moderationOf(query, found)
  })
}

/** Moderation history of a package. Only operators see who reported it and why. */
const shownActions = ['package.take_down', 'package.restore', 'package.appeal', 'package.appeal_dismiss']

/** For members of the account that owns the package, and for operators. Throws `package_not_found`, `forbidden`. */
export async function showModeration(query: Queries, actor: Actor | null, name: string): Promise<Moderation> {
  const scope = 'packages:read'
  const known = requireActor(actor, scope)
  const found = await findReadablePackage(query, known, name)
  if (!known.operator) await authorize(query, known, 'read', found.owner_id, { scope })
  return moderationOf(query, found)
}

export async function moderationOf(query: Queries, { id, name }: { id: string; name: string }): Promise<Moderation> {
  const {
    taken_down_at: at,
    taken_down_reason: reason,
    appeal,
  } = await query
    .selectFrom('packages')
    .select(['taken_down_at', 'taken_down_reason'])
    .select(
      sql<'open' | 'dismissed' | null>`(select state from reports where reason = 'appeal' and package_id = packages.id
        and review_id is null and demonstration_id is null and created_at >= packages.taken_down_at
        order by created_at desc limit 1)`.as('appeal'),
    )
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const entries = await query
    .selectFrom('audit')
    .leftJoin('accounts', 'accounts.id', 'audit.actor_id')
    .select(['audit.at', 'audit.action', 'accounts.username', 'audit.data'])
    .where('audit.subject', '=', name)
    .where('audit.action', 'in', shownActions)
    .orderBy('audit.id')
    .execute()
  return {
    package: name,
    taken_down: at === null ? null : { at: at.toISOString(), reason: reason ?? '', appeal },
    trail: entries.map(({ at: when, action, username, data }) => ({
      at: when.toISOString(),
      action,
      by: username ?? 'agentgym',
      reason: typeof data.reason === 'string' ? data.reason : '',
    })),
  }
}

type Message = { subject: string; paragraphs: string[] }
type Mailing = Pick<Services, 'database' | 'mail' | 'config' | 'log'>

/** Emails every operator. Does not wait for delivery. */
export function mailOperators(services: Mailing, message: Message): void {
  inBackground(services.log, 'a mail to operators', async () => {
    const people = await services.database.query
      .selectFrom('accounts')
      .select(['username', 'email'])
      .where('disabled_at', 'is', null)
      .where('email', 'is not', null)
      .where('operator', '=', true)
      .execute()
    for (const { username, email } of people) {
      if (email !== null) await sendLetter(services.mail, { to: { username, email }, ...message })
    }
  })
}
