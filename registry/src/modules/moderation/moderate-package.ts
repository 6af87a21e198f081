import type { appealRequestSchema, moderationSchema, takeDownRequestSchema } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import type { z } from 'zod'
import type { Actor } from '../../core/access/actor.ts'
import { recordAudit } from '../../core/access/audit.ts'
import { authorise, requireActor, requireOperator } from '../../core/access/authorise.ts'
import { limitRate } from '../../core/access/rate-limit.ts'
import type { Schema } from '../../core/database/schema.ts'
import { inBackground } from '../../core/scheduled-tasks/in-background.ts'
import type { Services } from '../../core/services.ts'
import { lockPackage } from '../packages/lock-package.ts'
import { findReadablePackage } from '../packages/packages.store.ts'
import { moderationOf } from './describe-moderation.ts'
import { mailAccount, mailOperators } from './moderation-mail.ts'
import { giveOwedRefunds } from './owed-refunds.ts'
import { moderationConflict } from './reports.store.ts'
import { type Moderated, restore, takeDown } from './take-down.ts'

const scope = 'packages:manage'

type Moderating = { actor: Actor | null; name: string; ip: string }
type Moderation = z.infer<typeof moderationSchema>

/** For operators. Throws `package_not_found`, also for a private package that is not theirs. */
export async function takeDownPackage(
  services: Services,
  { actor, name, ip }: Moderating,
  { reason, refund, for_all: forAll }: z.output<typeof takeDownRequestSchema>,
): Promise<Moderation> {
  const known = requireOperator(actor, scope)
  const { found, changed, moderation } = await change(services, known, name, async (query, found) =>
    takeDown(query, found, { actor: known, reason, ip, forAll, refund }),
  )
  if (changed) tellTakenDown(services, found, reason)
  inBackground(services.log, 'giving refunds', () => giveOwedRefunds(services))
  return moderation
}

/** For operators. Throws as `takeDownPackage`. */
export async function restorePackage(
  services: Services,
  { actor, name, ip }: Moderating,
  { reason }: { reason: string },
): Promise<Moderation> {
  const known = requireOperator(actor, scope)
  const { found, changed, moderation } = await change(services, known, name, async (query, found) =>
    restore(query, found, { actor: known, reason, ip }),
  )
  if (changed) tellRestored(services, found, reason)
  return moderation
}

export function tellTakenDown(services: Services, { name, owner_id }: Moderated, reason: string): void {
  mailAccount(services, owner_id, {
    subject: `${name} was taken down`,
    paragraphs: [
      `an operator has taken ${name} down. The reason:`,
      reason,
      `If you think that this is wrong, appeal against it: POST ${services.config.publicUrl}/v1/packages/${name}/appeals`,
    ],
  })
}

export function tellRestored(services: Services, { name, owner_id }: Moderated, reason: string): void {
  mailAccount(services, owner_id, {
    subject: `${name} is back`,
    paragraphs: [`an operator has put ${name} back. The reason:`, reason],
  })
}

/** Asks the operators to put a package back. For those who manage it. Throws `moderation_state_conflict`. */
export async function appeal(
  services: Services,
  { actor, name, ip }: Moderating,
  { text }: z.output<typeof appealRequestSchema>,
): Promise<Moderation> {
  const known = requireActor(actor, scope)
  await limitRate(services.database, `appeal:${known.accountId}`, { limit: 10, windowSeconds: 86_400 })
  const { found, moderation } = await change(services, known, name, async (query, found) => {
    const hidden = found.visibility === 'private' ? found.name : undefined
    await authorise(query, known, 'manage', found.owner_id, { scope, hidden })
    const { taken_down } = await moderationOf(query, found)
    if (taken_down === null)
      throw moderationConflict(`${found.name} is not taken down.`, 'There is nothing to appeal against.')
    const inserted = await query
      .insertInto('reports')
      .values({ package_id: found.id, reason: 'appeal', text, reported_by: known.accountId })
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .executeTakeFirst()
    if (inserted === undefined)
      throw moderationConflict(`Your appeal for ${found.name} is not decided yet.`, 'Its decision comes by mail.')
    const subject = found.name
    await recordAudit(query, { actor: known, ip, action: 'package.appeal', subject, data: { reason: text } })
    return true
  })
  mailOperators(services, {
    subject: `An appeal for ${found.name}`,
    paragraphs: [`${known.username} asks that ${found.name} be put back:`, text],
  })
  return moderation
}

type Found = Awaited<ReturnType<typeof findReadablePackage>>

async function change(
  { database }: Services,
  actor: Actor,
  name: string,
  work: (query: Transaction<Schema>, found: Found) => Promise<boolean>,
): Promise<{ found: Found; changed: boolean; moderation: Moderation }> {
  return database.transaction(async (query) => {
    const found = await findReadablePackage(query, actor, name)
    await lockPackage(database, query, found.name)
    const changed = await work(query, found)
    return { found, changed, moderation: await moderationOf(query, found) }
  })
}
