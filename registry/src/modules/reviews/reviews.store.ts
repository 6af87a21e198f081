import { AgentGymError, type Review, type ReviewList } from '@agentgym/contract'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { type Actor, packageNotFound } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import type { PageEnd } from '../../core/database/page-cursor.ts'
import { findReadablePackage, type ReadablePackage } from '../packages/index.ts'

/** A review with its author and its package. */
type ReviewRow = Awaited<ReturnType<typeof findReview>>

const reviews = (query: Queries) =>
  query
    .selectFrom('reviews')
    .innerJoin('versions', 'versions.id', 'reviews.version_id')
    .innerJoin('packages', 'packages.id', 'reviews.package_id')
    .innerJoin('accounts as author', 'author.id', 'reviews.author_id')
    .leftJoin('accounts as replier', 'replier.id', 'reviews.reply_by')
    .select(['reviews.id', 'reviews.package_id', 'reviews.version_id', 'reviews.author_id', 'reviews.stars'])
    .select(['reviews.text', 'reviews.reply', 'reviews.replied_at', 'reviews.created_at', 'reviews.updated_at'])
    .select([
      'versions.version',
      'packages.name as package',
      'author.username as author',
      'replier.username as replier',
    ])

/** Visible reviews: neither hidden nor withdrawn. */
const shown = (query: Queries) =>
  reviews(query).where('reviews.hidden_at', 'is', null).where('reviews.deleted_at', 'is', null)

/** Newest first. */
export async function listReviews(
  query: Queries,
  packageId: string,
  { after, limit }: { after: PageEnd | null; limit: number },
): Promise<NonNullable<ReviewRow>[]> {
  return shown(query)
    .where('reviews.package_id', '=', packageId)
    .$if(after !== null, (select) =>
      select.where(
        sql<boolean>`(reviews.created_at, reviews.id) < (${new Date(after?.key ?? 0)}::timestamptz, ${after?.id}::uuid)`,
      ),
    )
    .orderBy('reviews.created_at', 'desc')
    .orderBy('reviews.id', 'desc')
    .limit(limit)
    .execute()
}

export function findReview(query: Queries, id: string) {
  return shown(query).where('reviews.id', '=', id).executeTakeFirst()
}

/** The actor's review that operators hid. Throws `review_not_found`, also for reviews by others. */
export async function findHiddenReview(query: Queries, actor: Actor, id: string) {
  const [review] = await hiddenReviews(query, actor).where('reviews.id', '=', id).execute()
  if (review === undefined) throw reviewNotFound(id)
  return review
}

/** The actor's reviews of a package that operators hid, newest first. */
export async function listHiddenReviews(
  query: Queries,
  actor: Actor | null,
  packageId: string,
): Promise<NonNullable<ReviewList['own_hidden']>> {
  if (actor === null) return []
  const rows = await hiddenReviews(query, actor)
    .where('reviews.package_id', '=', packageId)
    .orderBy('reviews.created_at', 'desc')
    .limit(100)
    .execute()
  return rows.map(({ id, version, hidden_at: at, hidden_reason: reason, appeal }) => ({
    ...{ id, version },
    decision: { at: at.toISOString(), reason, appeal },
  }))
}

const hiddenReviews = (query: Queries, { accountId }: Actor) =>
  query
    .selectFrom('reviews')
    .innerJoin('versions', 'versions.id', 'reviews.version_id')
    .innerJoin('packages', 'packages.id', 'reviews.package_id')
    .select(['reviews.id', 'reviews.package_id', 'versions.version', 'packages.name as package'])
    .select((eb) => eb.ref('reviews.hidden_at').$notNull().as('hidden_at'))
    .select((eb) => eb.fn.coalesce('reviews.hidden_reason', sql<string>`''`).as('hidden_reason'))
    .select(
      sql<'open' | 'dismissed' | null>`(select state from reports where reason = 'appeal' and review_id = reviews.id
        and created_at >= reviews.hidden_at order by created_at desc limit 1)`.as('appeal'),
    )
    .where('reviews.author_id', '=', accountId)
    .where('reviews.hidden_at', 'is not', null)
    .where('reviews.deleted_at', 'is', null)

/** A visible review of a package that the actor may see. Throws the same `review_not_found` for every reason. */
export async function findReadableReview(
  query: Queries,
  actor: Actor | null,
  id: string,
): Promise<{ review: NonNullable<ReviewRow>; found: ReadablePackage }> {
  const review = await findReview(query, id)
  if (review === undefined) throw reviewNotFound(id)
  const found = await findReadablePackage(query, actor, review.package).catch((error: unknown) => {
    throw isHidden(error, review.package) ? reviewNotFound(id) : error
  })
  return { review, found }
}

const isHidden = (error: unknown, name: string): boolean =>
  error instanceof AgentGymError && error.code === packageNotFound(name).code

export function reviewNotFound(id: string): AgentGymError {
  return new AgentGymError({
    code: 'review_not_found',
    message: `Review ${id} does not exist.`,
    hint: 'It may have been deleted, or hidden by an operator.',
    data: { id },
  })
}

export function reviewOf(row: NonNullable<ReviewRow>): Review {
  const { id, version, author, stars, text, reply, replier, replied_at } = row
  return {
    ...{ id, version, author, stars, text },
    reply:
      reply === null || replier === null || replied_at === null
        ? null
        : { by: replier, text: reply, at: replied_at.toISOString() },
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

type Reviewer = { author: RawBuilder<unknown>; packageId: RawBuilder<unknown>; major: RawBuilder<unknown> }

/** The account and its organizations, whose licenses it may use. */
const circle = (account: RawBuilder<unknown>) => sql`(
  select ${account}::uuid union all select organisation_id from memberships where user_id = ${account})`

const freeAt = (packageId: RawBuilder<unknown>, at: RawBuilder<unknown>) => sql<SqlBool>`coalesce((
    select kind from prices where package_id = ${packageId} and withdrawn_at is null and effective_at <= ${at}
    order by effective_at desc, created_at desc, id limit 1
  ), 'free') = 'free'`

/** A condition: the account has used the package and is not its seller. */
const mayReview = (reviewer: Reviewer) => sql<SqlBool>`(
  not exists (select from packages where id = ${reviewer.packageId} and owner_id in ${circle(reviewer.author)})
  and ${counts(reviewer)})`

/**
 * A condition: the account's review counts. It has a license for the major version, its own or an organization's; it
 * paid for runs; or it downloaded the package or trained on it while it was free. Refunded licenses do not count,
 * because sellers could turn purchases and refunds into votes. Users who join the seller later keep their vote.
 */
export const counts = ({ author, packageId, major }: Reviewer) => sql<SqlBool>`(
  not exists (select from accounts where id = ${author} and disabled_at is not null)
  and (
    exists (select from entitlements where package_id = ${packageId} and major = ${major} and revoked_at is null
      and holder_id in ${circle(author)})
    or exists (select from orders where package_id = ${packageId} and major = ${major} and state = 'paid'
      and price_kind = 'per_run' and buyer_id in ${circle(author)})
    or exists (select from package_users used where package_id = ${packageId} and account_id = ${author}
      and ${freeAt(packageId, sql`used.first_at`)})
    or exists (select from training_runs run join versions trained on trained.id = run.scenario_version_id
      where trained.package_id = ${packageId} and run.created_by = ${author} and run.started_at is not null
      and ${freeAt(packageId, sql`run.created_at`)})
  ))`

/** SQL for the major version of a version column: `1` of `1.4.2`. */
export const majorOf = (version: RawBuilder<unknown>) => sql`split_part(${version}, '.', 1)::bigint`

/** Whether the account may review the version. */
export async function canReview(
  query: Queries,
  { author, packageId, version }: { author: string; packageId: string; version: string },
): Promise<boolean> {
  const request = {
    author: sql`${author}::uuid`,
    packageId: sql`${packageId}::uuid`,
    major: majorOf(sql`${version}::text`),
  }
  const { rows } = await sql<{ may: boolean }>`select ${mayReview(request)} as may`.execute(query)
  return rows[0].may
}
