import assert from 'node:assert'
import { AgentGymError, type Review } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, authorize, requireActor } from '../../core/access/authorize.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import { recordEvent } from '../events/index.ts'
import { findReadablePackage, findReadableVersion, type PackageServices } from '../packages/index.ts'
import { lockRating, writeRating } from './ratings.ts'
import { canReview, findReadableReview, findReview, reviewNotFound, reviewOf } from './reviews.store.ts'

type Writing = { actor: Actor | null; ip: string }
type Given = { name: string; version: string; stars: number; text: string }

/**
 * Creates or replaces the actor's review of a version, and updates the package's rating. Throws `review_not_allowed` for
 * an actor who has not used the package, sells it, or had this review hidden; `package_not_found`, `version_not_found`.
 */
export async function putReview(
  services: PackageServices,
  { actor, ip }: Writing,
  { name, version, stars, text }: Given,
): Promise<Review> {
  const { database } = services
  const known = requireActor(actor, 'market:buy')
  // A very recent download counts.
  await services.downloads.flush()
  return database.transaction(async (query) => {
    const found = await findReadablePackage(query, known, name)
    const row = await findReadableVersion(query, found, version)
    const author = known.accountId
    await lockRating(query, found.id)
    if (!(await canReview(query, { author, packageId: found.id, version }))) throw notAReviewer(found.name)
    const put = await upsert(query, { packageId: found.id, versionId: row.id, author, stars, text })
    if (put === undefined) throw hiddenBefore(found.name, version)
    const { id, isNew } = put
    await writeRating(query, found.id)
    await recordAudit(query, {
      ...{ actor: known, ip, action: 'review.put', subject: `${found.name}@${version}` },
      data: { review: id, stars },
    })
    // Once, however often its author edits it.
    if (isNew)
      await recordEvent(query, {
        ...{ type: 'review.written', accountId: found.owner_id },
        data: { package: found.name, version, review: id, author: known.username, stars },
      })
    const written = await findReview(query, id)
    assert(written !== undefined)
    return reviewOf(written)
  })
}

/** Undefined if the user's review was hidden. */
async function upsert(
  query: Transaction<Schema>,
  given: { packageId: string; versionId: string; author: string; stars: number; text: string },
): Promise<{ id: string; isNew: boolean } | undefined> {
  const { packageId, versionId, author, stars, text } = given
  const now = sql<Date>`now()`
  return query
    .insertInto('reviews')
    .values({ package_id: packageId, version_id: versionId, author_id: author, stars, text })
    .onConflict((conflict) =>
      conflict
        .columns(['version_id', 'author_id'])
        .doUpdateSet({ stars, text, updated_at: now, deleted_at: null })
        .where('reviews.hidden_at', 'is', null),
    )
    .returning(['id', sql<boolean>`xmax = 0`.as('isNew')])
    .executeTakeFirst()
}

/** Withdraws the actor's own review. Throws `review_not_found`, also for reviews by others. */
export async function deleteReview(services: Services, { actor, ip }: Writing, id: string): Promise<void> {
  const { database } = services
  const known = requireActor(actor, 'market:buy')
  await database.transaction(async (query) => {
    const review = await query
      .selectFrom('reviews')
      .innerJoin('packages', 'packages.id', 'reviews.package_id')
      .innerJoin('versions', 'versions.id', 'reviews.version_id')
      .select(['reviews.package_id', 'packages.name', 'versions.version'])
      .where('reviews.id', '=', id)
      .where('reviews.author_id', '=', known.accountId)
      .where('reviews.deleted_at', 'is', null)
      .executeTakeFirst()
    if (review === undefined) throw reviewNotFound(id)
    await lockRating(query, review.package_id)
    // The reply is removed with the review.
    const withdrawn = { deleted_at: sql<Date>`now()`, text: '', reply: null, reply_by: null, replied_at: null }
    await query.updateTable('reviews').set(withdrawn).where('id', '=', id).execute()
    await writeRating(query, review.package_id)
    const subject = `${review.name}@${review.version}`
    await recordAudit(query, { actor: known, ip, action: 'review.delete', subject, data: { review: id } })
  })
}

function notAReviewer(name: string): AgentGymError {
  return new AgentGymError({
    code: 'review_not_allowed',
    message: `Only buyers of ${name}, or users if it is free, can review it; its seller cannot.`,
    hint: `\`agentgym buy ${name}\` or \`agentgym install ${name}\` with this account first. A license covers one major version.`,
    data: { name },
  })
}

function hiddenBefore(name: string, version: string): AgentGymError {
  return new AgentGymError({
    code: 'review_not_allowed',
    message: `An operator has hidden your review of ${name}@${version}, so you cannot review this version again.`,
    data: { name, version },
  })
}

const scope = 'market:sell'

/** Sets or removes (null) the seller's reply to a review. Throws `review_not_found`, `forbidden`. */
export async function replyToReview(
  { database }: Services,
  { actor, id, text, ip }: { actor: Actor | null; id: string; text: string | null; ip: string },
): Promise<Review> {
  const known = requireActor(actor, scope)
  return database.transaction(async (query) => {
    const { review, found } = await findReadableReview(query, known, id)
    await authorize(query, known, 'manage', found.owner_id, { scope })
    const reply =
      text === null
        ? { reply: null, reply_by: null, replied_at: null }
        : { reply: text, reply_by: known.accountId, replied_at: sql<Date>`now()` }
    await query.updateTable('reviews').set(reply).where('id', '=', id).where('deleted_at', 'is', null).execute()
    await recordAudit(query, {
      ...{ actor: known, ip, action: text === null ? 'review.unreply' : 'review.reply' },
      ...{ subject: `${review.package}@${review.version}`, data: { review: id } },
    })
    const written = await findReview(query, id)
    assert(written !== undefined)
    return reviewOf(written)
  })
}
