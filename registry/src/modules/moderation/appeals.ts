import assert from 'node:assert'
import type { AuditAction, appealRequestSchema } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import type { z } from 'zod'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, authorize, requireActor } from '../../core/access/authorize.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import { findRemovedEpisode, restoreEpisode } from '../demonstrations/index.ts'
import { recordEvent } from '../events/index.ts'
import { findReadablePackage, lockPackage } from '../packages/index.ts'
import { findHiddenReview, lockRating, writeRating } from '../reviews/index.ts'
import { findReport, moderationConflict, type Report, type ReportRow, reportOf } from './reports.store.ts'
import { type Deciding, type Moderated, type Moderation, mailOperators, moderationOf, restore } from './take-down.ts'

type Appealing = { actor: Actor | null; ip: string }
type Appeal = z.output<typeof appealRequestSchema>

/** A decision of the operators, and what it is about. */
type Decided = {
  package: Pick<Moderated, 'id' | 'name'>
  review: string | null
  demonstration: string | null
  at: Date
  reason: string
  /** In sentences: `your review of @acme/maze@1.0.0`. */
  what: string
  audit: { action: AuditAction; subject: string }
}

/** Asks the operators to restore a package. For its managers. Throws `moderation_state_conflict`. */
export async function appealTakeDown(
  services: Services,
  { actor, name, ip }: Appealing & { name: string },
  { text }: Appeal,
): Promise<Moderation> {
  const scope = 'packages:manage'
  const known = requireActor(actor, scope)
  const moderation = await services.database.transaction(async (query) => {
    const found = await findReadablePackage(query, known, name)
    await lockPackage(services.database, query, found.name)
    const hidden = found.visibility === 'private' ? found.name : undefined
    await authorize(query, known, 'manage', found.owner_id, { scope, hidden })
    const { taken_down } = await moderationOf(query, found)
    if (taken_down === null)
      throw moderationConflict(
        `${found.name} is not taken down.`,
        'Only packages that were taken down can be appealed.',
      )
    await insertAppeal(query, known, {
      ...{ ip, text },
      decided: {
        ...{
          package: found,
          review: null,
          demonstration: null,
          at: new Date(taken_down.at),
          reason: taken_down.reason,
        },
        ...{ what: found.name, audit: { action: 'package.appeal', subject: found.name } },
      },
    })
    return moderationOf(query, found)
  })
  mailAppeal(services, known, moderation.package, text)
  return moderation
}

/** Asks the operators to show a review again. For its author. Throws `review_not_found`, `moderation_state_conflict`. */
export function appealHiddenReview(
  services: Services,
  { actor, id, ip }: Appealing & { id: string },
  { text }: Appeal,
): Promise<Report> {
  const known = requireActor(actor, 'market:buy')
  return appealOwn(services, { known, ip, text }, async (query) => {
    const { version, hidden_at: at, hidden_reason: reason, ...review } = await findHiddenReview(query, known, id)
    const subject = `${review.package}@${version}`
    return {
      ...{ package: { id: review.package_id, name: review.package }, review: id, demonstration: null, at, reason },
      ...{ what: `your review of ${subject}`, audit: { action: 'review.appeal', subject } },
    }
  })
}

/**
 * Asks the operators to count a removed episode again. For its person. Throws `demonstration_not_found`,
 * `moderation_state_conflict`.
 */
export function appealRemovedEpisode(
  services: Services,
  { actor, id, ip }: Appealing & { id: string },
  { text }: Appeal,
): Promise<Report> {
  const known = requireActor(actor, 'training:evaluate')
  return appealOwn(services, { known, ip, text }, async (query) => {
    const { removed_at: at, removed_reason: reason, ...episode } = await findRemovedEpisode(query, known, id)
    const subject = `${episode.name}@${episode.version}`
    return {
      ...{ package: { id: episode.package_id, name: episode.name }, review: null, demonstration: id, at, reason },
      ...{ what: `your episode of ${subject}`, audit: { action: 'demonstration.appeal', subject } },
    }
  })
}

type Written = { known: Actor; ip: string; text: string }

async function appealOwn(
  services: Services,
  { known, ip, text }: Written,
  find: (query: Transaction<Schema>) => Promise<Decided>,
): Promise<Report> {
  const { database } = services
  const report = await database.transaction(async (query) => {
    const named = await find(query)
    // Decisions are made with the package locked.
    await lockPackage(database, query, named.package.name)
    const id = await insertAppeal(query, known, { ip, text, decided: await find(query) })
    const row = await findReport(query, id)
    assert(row !== undefined)
    return reportOf(row)
  })
  mailAppeal(services, known, report.package, text)
  return report
}

/** Each decision can be appealed once. */
async function insertAppeal(
  query: Transaction<Schema>,
  actor: Actor,
  { ip, text, decided }: { ip: string; text: string; decided: Decided },
): Promise<string> {
  const { package: found, review, demonstration, at, reason, what, audit } = decided
  const earlier = await query
    .selectFrom('reports')
    .select('state')
    .where('reason', '=', 'appeal')
    .where('package_id', '=', found.id)
    .where('review_id', 'is not distinct from', review)
    .where('demonstration_id', 'is not distinct from', demonstration)
    .where('created_at', '>=', at)
    .executeTakeFirst()
  if (earlier !== undefined)
    throw moderationConflict(
      earlier.state === 'open' ? `The appeal for ${what} is still open.` : `The appeal for ${what} was dismissed.`,
      earlier.state === 'open' ? 'You will get the decision by mail.' : 'A decision can be appealed once.',
    )
  const { id } = await query
    .insertInto('reports')
    .values({
      ...{ package_id: found.id, review_id: review, demonstration_id: demonstration },
      ...{ reason: 'appeal', text, appealed_reason: reason, reported_by: actor.accountId },
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const data = {
    reason: text,
    ...(review !== null && { review }),
    ...(demonstration !== null && { id: demonstration }),
  }
  await recordAudit(query, { actor, ip, ...audit, data })
  return id
}

function mailAppeal(services: Services, { username }: Actor, name: string, text: string): void {
  mailOperators(services, {
    subject: `Appeal: ${name}`,
    paragraphs: [
      `${username} appeals a decision about ${name}:`,
      text,
      `${services.config.publicUrl}/operator/moderation`,
    ],
  })
}

/** Restores what an upheld appeal is about, and notifies its owner. Requires the package's lock. */
export async function decideAppeal(
  query: Transaction<Schema>,
  row: ReportRow & { owner_id: string },
  { decision, deciding }: { decision: 'upheld' | 'dismissed'; deciding: Deciding },
): Promise<void> {
  const { package_id: id, package: name, owner_id } = row
  if (row.review_id !== null || row.demonstration_id !== null)
    return decideOwnAppeal(query, row, { decision, deciding })
  if (decision === 'upheld') return restore(query, { id, name, owner_id }, deciding)
  const { actor, ip, reason } = deciding
  await recordAudit(query, { actor, ip, action: 'package.appeal_dismiss', subject: name, data: { reason } })
  await recordEvent(query, { type: 'appeal.dismissed', accountId: owner_id, data: { package: name, reason } })
}

async function decideOwnAppeal(
  query: Transaction<Schema>,
  { package: name, package_id, review_id: review, demonstration_id: demonstration, reported_by }: ReportRow,
  { decision, deciding: { actor, ip, reason } }: { decision: 'upheld' | 'dismissed'; deciding: Deciding },
): Promise<void> {
  if (decision === 'upheld' && review !== null) {
    await lockRating(query, package_id)
    await query.updateTable('reviews').set({ hidden_at: null, hidden_reason: null }).where('id', '=', review).execute()
    await writeRating(query, package_id)
  }
  if (decision === 'upheld' && demonstration !== null) await restoreEpisode(query, demonstration)
  const [noun, about] = review === null ? (['demonstration', 'episode'] as const) : (['review', 'review'] as const)
  await recordAudit(query, {
    ...{ actor, ip, action: `${noun}.${decision === 'upheld' ? 'restore' : 'appeal_dismiss'}`, subject: name },
    data: { reason, ...(review === null ? { id: demonstration } : { review }) },
  })
  const type = decision === 'upheld' ? 'appeal.upheld' : 'appeal.dismissed'
  await recordEvent(query, { type, accountId: reported_by, data: { package: name, about, reason } })
}
