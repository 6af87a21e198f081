import assert from 'node:assert'
import type { createReportRequestSchema } from '@agentgym/contract'
import type { z } from 'zod'
import type { Actor } from '../../core/access/actor.ts'
import { recordAudit } from '../../core/access/audit.ts'
import { requireActor } from '../../core/access/authorise.ts'
import { limitRate } from '../../core/access/rate-limit.ts'
import type { Services } from '../../core/services.ts'
import { lockPackage } from '../packages/lock-package.ts'
import { findReadablePackage } from '../packages/packages.store.ts'
import { findReview, reviewNotFound } from '../reviews/reviews.store.ts'
import { mailOperators } from './moderation-mail.ts'
import { findOpenReport, type Report, reportOf } from './reports.store.ts'

type Reporting = { actor: Actor | null; ip: string; request: z.output<typeof createReportRequestSchema> }

/**
 * Tells the operators of a package or of a review of it. Told again while it is undecided, it is the same report. Throws
 * `package_not_found`, `review_not_found`, `rate_limited`.
 */
export async function createReport(
  services: Services,
  { actor, ip, request }: Reporting,
): Promise<{ report: Report; isNew: boolean }> {
  const { database, config } = services
  const known = requireActor(actor, 'packages:read')
  await limitRate(database, `report:${known.accountId}`, { limit: 30, windowSeconds: 86_400 })
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
