import assert from 'node:assert'
import type { createReportRequestSchema, decideReportRequestSchema } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import type { z } from 'zod'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, requireActor, requireOperator } from '../../core/access/authorize.ts'
import type { Schema } from '../../core/database/schema.ts'
import { inBackground } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { recordEvent } from '../events/index.ts'
import { findReadablePackage, lockPackage } from '../packages/index.ts'
import { findReview, lockRating, reviewNotFound, writeRating } from '../reviews/index.ts'
import { decideAppeal } from './appeals.ts'
import { giveOwedRefunds } from './owed-refunds.ts'
import {
  findOpenReport,
  findReport,
  moderationConflict,
  type Report,
  type ReportRow,
  reportNotFound,
  reportOf,
} from './reports.store.ts'
import { type Deciding, mailOperators, takeDown } from './take-down.ts'

type Reporting = { actor: Actor | null; ip: string; request: z.output<typeof createReportRequestSchema> }

/**
 * Reports a package or one of its reviews to the operators. Repeating an undecided report returns the same report.
 * Throws `package_not_found`, `review_not_found`.
 */
export async function createReport(
  services: Services,
  { actor, ip, request }: Reporting,
): Promise<{ report: Report; isNew: boolean }> {
  const { database, config } = services
  const known = requireActor(actor, 'packages:read')
  const made = await database.transaction(async (query) => {
    const found = await findReadablePackage(query, known, request.package)
    await lockPackage(database, query, found.name)
    const reviewId = request.review ?? null
    if (reviewId !== null && (await findReview(query, reviewId))?.package_id !== found.id)
      throw reviewNotFound(reviewId)
    const by = known.accountId
    const inserted = await query
      .insertInto('reports')
      .values({
        package_id: found.id,
        review_id: reviewId,
        reason: request.reason,
        text: request.text,
        reported_by: by,
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .executeTakeFirst()
    const row = await findOpenReport(query, { packageId: found.id, reviewId, by })
    assert(row !== undefined, 'a report is decided with the package locked')
    if (inserted !== undefined)
      await recordAudit(query, {
        ...{ actor: known, ip, action: 'report.create', subject: `report:${row.id}` },
        data: { package: found.name, review: reviewId, reason: request.reason },
      })
    return { report: reportOf(row), isNew: inserted !== undefined }
  })
  if (made.isNew)
    mailOperators(services, {
      subject: `${made.report.package} was reported: ${made.report.reason}`,
      paragraphs: [
        `${known.username} reports ${made.report.review === null ? '' : 'a review of '}${made.report.package}:`,
        made.report.text,
        `Its id is ${made.report.id}. All reports: ${config.publicUrl}/v1/reports`,
      ],
    })
  return made
}

type Decision = z.output<typeof decideReportRequestSchema>

/**
 * Decides a report. Upholding it hides the review or takes the package down (for all, if malicious); upholding an
 * appeal restores what it is about. Other open reports about the same subject are closed. Throws `report_not_found`, and
 * `moderation_state_conflict` if it was already decided differently.
 */
export async function decideReport(
  services: Services,
  { actor, id, ip }: { actor: Actor | null; id: string; ip: string },
  { decision, reason }: Decision,
): Promise<Report> {
  const known = requireOperator(actor, 'packages:manage')
  const { database } = services
  const report = await database.transaction(async (query) => {
    const named = await findReport(query, id)
    if (named === undefined) throw reportNotFound(id)
    // Locked before the rows of reports, in the same order as in take-downs and restores.
    await lockPackage(database, query, named.package)
    const row = await findReport(query, id)
    assert(row !== undefined)
    if (row.state === decision) return reportOf(row)
    if (row.state !== 'open')
      throw moderationConflict(
        `${row.decider} has already ${row.state} this report.`,
        'Decisions are final; an appeal is a new report.',
      )
    await close(query, row, { decision, by: known.accountId, reason })
    await recordAudit(query, {
      ...{ actor: known, ip, action: `report.${decision}`, subject: `report:${id}` },
      data: { package: row.package, review: row.review_id, reason },
    })
    await act(query, row, { decision, deciding: { actor: known, ip, reason } })
    const decided = await findReport(query, id)
    assert(decided !== undefined)
    return reportOf(decided)
  })
  inBackground(services.log, 'giving refunds', () => giveOwedRefunds(services))
  return report
}

/** Closes the report and, if it is upheld, all open ones about the same subject; their reporters are notified. */
async function close(
  query: Transaction<Schema>,
  { id, package: name, package_id, review_id, demonstration_id, reason: kind }: ReportRow,
  { decision, by, reason }: { decision: Decision['decision']; by: string; reason: string },
): Promise<void> {
  const closed = await query
    .updateTable('reports')
    .set({ state: decision, decided_by: by, decision: reason, decided_at: sql<Date>`now()` })
    .where('state', '=', 'open')
    .where(({ or, and, eb }) =>
      or([
        eb('id', '=', id),
        ...(decision === 'dismissed'
          ? []
          : [
              and([
                eb('package_id', '=', package_id),
                eb('review_id', 'is not distinct from', review_id),
                eb('demonstration_id', 'is not distinct from', demonstration_id),
                eb('reason', kind === 'appeal' ? '=' : '<>', 'appeal'),
              ]),
            ]),
      ]),
    )
    .returning(['id', 'reported_by'])
    .execute()
  // The owner learns of an appeal's decision as such.
  if (kind === 'appeal') return
  for (const { id: report, reported_by: accountId } of closed)
    await recordEvent(query, { type: 'report.decided', accountId, data: { package: name, report, decision, reason } })
}

async function act(
  query: Transaction<Schema>,
  row: ReportRow,
  { decision, deciding }: { decision: Decision['decision']; deciding: Deciding },
): Promise<void> {
  const { owner_id } = await query
    .selectFrom('packages')
    .select('owner_id')
    .where('id', '=', row.package_id)
    .executeTakeFirstOrThrow()
  const found = { id: row.package_id, name: row.package, owner_id }
  if (row.reason === 'appeal') return decideAppeal(query, { ...row, owner_id }, { decision, deciding })
  if (decision === 'dismissed') return
  if (row.review_id !== null) return hideReview(query, row.review_id, deciding)
  const forAll = row.reason === 'malicious'
  await takeDown(query, found, { ...deciding, forAll, refund: false })
}

async function hideReview(
  query: Transaction<Schema>,
  reviewId: string,
  { actor, ip, reason }: Deciding,
): Promise<void> {
  const review = await query
    .selectFrom('reviews')
    .innerJoin('packages', 'packages.id', 'reviews.package_id')
    .innerJoin('versions', 'versions.id', 'reviews.version_id')
    .select(['reviews.package_id', 'reviews.author_id', 'packages.name', 'versions.version'])
    .where('reviews.id', '=', reviewId)
    .executeTakeFirstOrThrow()
  await lockRating(query, review.package_id)
  await query
    .updateTable('reviews')
    .set({ hidden_at: sql<Date>`now()`, hidden_reason: reason })
    .where('id', '=', reviewId)
    .where('hidden_at', 'is', null)
    .execute()
  await writeRating(query, review.package_id)
  const subject = `${review.name}@${review.version}`
  await recordAudit(query, { actor, ip, action: 'review.hide', subject, data: { review: reviewId, reason } })
  const { name, version, author_id: accountId } = review
  await recordEvent(query, {
    ...{ type: 'review.hidden', accountId },
    data: { package: name, version, review: reviewId, reason },
  })
}
