import { sql } from 'kysely'
import type { ScheduledTask } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { enqueueVerification, turnSeason } from '../evaluations/index.ts'
import { concludeVerification } from './conclude-evaluation.ts'
import { hasAnotherWorker, runsOf } from './evaluation-runs.ts'
import { openVerification } from './request-verification.ts'
import { findEvaluation, subjectOf } from './verification-subject.ts'

/** Scheduled tasks for evaluations. */
export function verificationTasks(services: Services): ScheduledTask[] {
  const minutes = 60_000
  return [
    {
      name: 'verification.enqueue-lost-evaluations',
      everyMs: 10 * minutes,
      run: () => enqueueLostEvaluations(services),
    },
    { name: 'verification.conclude-unanswered', everyMs: minutes, run: () => concludeUnanswered(services) },
    { name: 'verification.season', everyMs: 10 * minutes, run: () => keepSeason(services) },
    { name: 'verification.retry-inconclusive', everyMs: 10 * minutes, run: () => retryInconclusive(services) },
  ]
}

/** Recreates missing jobs of unfinished evaluations, for example after the queue was restored from a backup. */
export async function enqueueLostEvaluations(services: Services): Promise<void> {
  const { queue } = services
  const open = await services.database.query
    .selectFrom('evaluations')
    .leftJoin('versions', 'versions.id', 'evaluations.version_id')
    .select(['evaluations.id', 'evaluations.episodes'])
    .select((select) => select.fn.coalesce('evaluations.requested_by', 'versions.published_by').as('account'))
    .where('evaluations.ended_at', 'is', null)
    .orderBy('evaluations.created_at')
    .limit(10_000)
    .execute()
  for (const { id, account, episodes } of open) {
    if (await queue.recover('evaluate', id, { account: account ?? undefined, episodes }))
      services.log.warn('an evaluation under way had no job', { evaluation_id: id })
  }
}

/** Decides verifications that wait for another worker if none is connected anymore, by the recorded runs. */
export async function concludeUnanswered(services: Services): Promise<void> {
  const { database, queue } = services
  const waiting = await database.query
    .selectFrom('evaluations')
    .select('id')
    .where('ended_at', 'is', null)
    .where('purpose', '=', 'verification')
    .where('state', '=', 'queued')
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('evaluation_runs').select('id').whereRef('evaluation_id', '=', 'evaluations.id')),
    )
    .orderBy('created_at')
    .limit(1_000)
    .execute()
  for (const { id } of waiting) {
    await database.transaction(async (query) => {
      if ((await queue.lock(query, 'evaluate', id)) !== 'waiting') return
      const evaluation = await findEvaluation(query, id)
      const subject = evaluation && (await subjectOf(query, evaluation))
      if (evaluation === undefined || subject === undefined || evaluation.ended_at !== null) return
      if (await hasAnotherWorker(query, await runsOf(query, id))) return
      await queue.end(query, 'evaluate', id)
      await concludeVerification(services, query, evaluation, subject, { final: true })
    })
  }
}

/** Starts new seasons, and in each verifies the latest version of every package on a leaderboard again. */
export async function keepSeason(services: Services): Promise<void> {
  await turnSeason(services)
  const { rows } = await sql<{ version_id: string }>`
    select shown.version_id from (
      select distinct on (standings.package_id, standings.scenario_version_id) standings.*
      from standings join versions on versions.id = standings.version_id
      where versions.state = 'published' and versions.yanked_at is null
      order by standings.package_id, standings.scenario_version_id, versions.created_at desc, versions.id desc
    ) shown
    join packages on packages.id = shown.package_id
    cross join (select id from seasons where ended_at is null) season
    where shown.season_id is distinct from season.id
      and packages.visibility = 'public' and packages.taken_down_at is null
      and not exists (select from nondeterministic_scenarios where version_id = shown.scenario_version_id)
      and not exists (select from evaluations where evaluations.version_id = shown.version_id
        and purpose = 'verification' and (ended_at is null or evaluations.season_id = season.id))
    order by shown.season_id nulls first, shown.version_id limit 1000`.execute(services.database.query)
  for (const { version_id: versionId } of rows) await verifyInIdleTime(services, versionId)
}

/** Retries of an inconclusive verification: after an hour, then with a fourfold delay each time. */
const mostRetries = 5

/** Retries inconclusive verifications in idle time. */
export async function retryInconclusive(services: Services): Promise<void> {
  const { database } = services
  const { rows } = await sql<{ version_id: string }>`
    with open as (
      select version_id, count(*) as tries, max(created_at) as latest from verifications
      where state = 'inconclusive' and not exists (
        select from verifications later where later.version_id = verifications.version_id
          and later.state <> 'inconclusive' and later.created_at >= verifications.created_at)
      group by version_id)
    select open.version_id from open
    join versions on versions.id = open.version_id
    join packages on packages.id = versions.package_id
    where tries <= ${mostRetries} and latest + interval '1 hour' * power(4, tries - 1) < now()
      and versions.state = 'published' and versions.yanked_at is null and packages.taken_down_at is null
      and not exists (select from evaluations where evaluations.version_id = open.version_id
        and purpose = 'verification' and ended_at is null)
      and not exists (select from verifications
        join nondeterministic_scenarios on nondeterministic_scenarios.version_id = verifications.scenario_version_id
        where verifications.version_id = open.version_id)
    order by latest limit 1000`.execute(database.query)
  for (const { version_id: versionId } of rows) await verifyInIdleTime(services, versionId)
}

async function verifyInIdleTime(services: Services, versionId: string): Promise<void> {
  const { database } = services
  await database.transaction(async (query) => {
    await database.lock(query, `verify:${versionId}`)
    if ((await openVerification(query, versionId)) !== undefined) return
    const { manifest: agent } = await query
      .selectFrom('agent_versions')
      .select('manifest')
      .where('version_id', '=', versionId)
      .executeTakeFirstOrThrow()
    await enqueueVerification(query, services, { versionId, agent, requestedBy: null, traceparent: null, idle: true })
  })
}
