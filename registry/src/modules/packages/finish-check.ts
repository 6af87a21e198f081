import { AgentGymError, type CheckReport, type SampleEpisode } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import type { Schema, VersionState } from '../../core/database/schema.ts'
import type { Attempt } from '../../core/queue/job-handler.ts'
import { jobQueue, maxAttempts } from '../../core/queue/job-queue.ts'
import type { Services } from '../../core/services.ts'
import { decideVersion, type UndecidedVersion } from './decide-version.ts'
import { lockPackage } from './lock-package.ts'
import { keepSampleEpisode } from './sample-episodes.store.ts'

/**
 * Takes a worker's report: the version becomes `published`, with the tags and the package's description that follow from
 * it and the episode that the worker wrote down, or `rejected`; all of it changes in one transaction. A report comes through once: throws `lease_lost` where the
 * attempt is not the one under way, `request_invalid` where the report is about something else.
 */
export async function finishCheck(
  services: Services,
  attempt: Attempt,
  report: CheckReport,
  sample: SampleEpisode | null = null,
): Promise<'published' | 'rejected'> {
  const queue = await jobQueue(services)
  return services.database.transaction(async (query) => {
    await queue.complete(query, attempt)
    const version = await lockVersion(services, query, attempt.id)
    if (report.name !== version.name || report.version !== version.version)
      throw new AgentGymError({
        code: 'request_invalid',
        message: `The report is about ${report.name}@${report.version}, the job about ${version.name}@${version.version}.`,
        data: { field: 'report' },
      })
    const state = await decideVersion(query, version, report.ok && report.checks.every(({ ok }) => ok), report.checks)
    if (state === 'published' && sample !== null) await keepSampleEpisode(query, version.id, sample)
    return state
  })
}

/** Rejects a version whose check came to no result in all its attempts. */
export async function rejectExhausted(services: Services, versionId: string): Promise<void> {
  const checks = [
    {
      id: 'checker_failed',
      ok: false,
      message: `The check came to no result in ${maxAttempts} attempts: the scenario may use up memory or time before it answers. Run \`agentgym scenario check\`, and publish the mended scenario as a new version.`,
    },
  ]
  await services.database.transaction(async (query) => {
    const version = await lockVersion(services, query, versionId)
    if (version.state === 'checking') await decideVersion(query, version, false, checks)
  })
}

async function lockVersion(
  { database }: Services,
  query: Transaction<Schema>,
  versionId: string,
): Promise<UndecidedVersion & { state: VersionState }> {
  const select = () =>
    query
      .selectFrom('versions')
      .innerJoin('packages', 'packages.id', 'versions.package_id')
      .select(['versions.id', 'versions.package_id', 'versions.version', 'versions.state', 'versions.intended_tag'])
      .select('packages.name')
      .where('versions.id', '=', versionId)
      .executeTakeFirstOrThrow()
  await lockPackage(database, query, (await select()).name)
  return select()
}
