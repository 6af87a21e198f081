import { AgentGymError, type reportSchema } from '@agentgym/contract'
import { sql } from 'kysely'
import type { z } from 'zod'
import type { Queries } from '../../core/database/database.ts'
import type { PageEnd } from '../../core/database/page-cursor.ts'

export type Report = z.infer<typeof reportSchema>
export type ReportState = Report['state']
export type ReportRow = Awaited<ReturnType<ReturnType<typeof reports>['executeTakeFirstOrThrow']>>

const reports = (query: Queries) =>
  query
    .selectFrom('reports')
    .innerJoin('packages', 'packages.id', 'reports.package_id')
    .innerJoin('accounts as reporter', 'reporter.id', 'reports.reported_by')
    .leftJoin('accounts as decider', 'decider.id', 'reports.decided_by')
    .select(['reports.id', 'reports.package_id', 'reports.review_id', 'reports.demonstration_id', 'reports.reason'])
    .select(['reports.text', 'reports.appealed_reason', 'reports.reported_by'])
    .select(['reports.state', 'reports.decision', 'reports.decided_at', 'reports.created_at'])
    .select(['packages.name as package', 'reporter.username as reporter', 'decider.username as decider'])

export function findReport(query: Queries, id: string): Promise<ReportRow | undefined> {
  return reports(query).where('reports.id', '=', id).executeTakeFirst()
}

/** The user's undecided report about it. */
export function findOpenReport(
  query: Queries,
  { packageId, reviewId, by }: { packageId: string; reviewId: string | null; by: string },
): Promise<ReportRow | undefined> {
  return reports(query)
    .where('reports.package_id', '=', packageId)
    .where('reports.review_id', 'is not distinct from', reviewId)
    .where('reports.reported_by', '=', by)
    .where('reports.reason', '<>', 'appeal')
    .where('reports.state', '=', 'open')
    .executeTakeFirst()
}

/** Oldest first. */
export function listReports(
  query: Queries,
  { state, after, limit }: { state: ReportState; after: PageEnd | null; limit: number },
): Promise<ReportRow[]> {
  return reports(query)
    .where('reports.state', '=', state)
    .$if(after !== null, (select) =>
      select.where(
        sql<boolean>`(reports.created_at, reports.id) > (${new Date(after?.key ?? 0)}::timestamptz, ${after?.id}::uuid)`,
      ),
    )
    .orderBy('reports.created_at')
    .orderBy('reports.id')
    .limit(limit)
    .execute()
}

export function reportOf(row: ReportRow): Report {
  const { decider, decision, decided_at: decidedAt } = row
  return {
    id: row.id,
    package: row.package,
    review: row.review_id,
    demonstration: row.demonstration_id,
    reason: row.reason as Report['reason'],
    text: row.text,
    appealed_reason: row.appealed_reason,
    by: row.reporter,
    state: row.state,
    decision:
      decider === null || decision === null || decidedAt === null
        ? null
        : { by: decider, reason: decision, at: decidedAt.toISOString() },
    created_at: row.created_at.toISOString(),
  }
}

export function reportNotFound(id: string): AgentGymError {
  return new AgentGymError({ code: 'report_not_found', message: `Report ${id} does not exist.`, data: { id } })
}

export function moderationConflict(message: string, hint: string): AgentGymError {
  return new AgentGymError({ code: 'moderation_state_conflict', message, hint })
}
