import { AgentGymError, type CheckReport, type SampleEpisode } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import semver from 'semver'
import { recordAudit } from '../../core/access/audit.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Schema, VersionCheck, VersionState } from '../../core/database/schema.ts'
import type { Attempt, JobHandler } from '../../core/queue/job-handler.ts'
import { maxAttempts } from '../../core/queue/job-queue.ts'
import { type OpenedObject, openLeased } from '../../core/queue/leased-object.ts'
import type { Services } from '../../core/services.ts'
import { keepSampleEpisode, lockPackage, tagsOf } from './packages.store.ts'
import { putTag, taggedVersions, tagOnPublish } from './tags.ts'

/** The jobs that check an uploaded scenario. */
export function checkJobs(services: Services): JobHandler {
  return {
    kind: 'check',
    describe: async (query, { id }) => {
      const version = await findLeased(query, id)
      // Already decided: its job was enqueued again by mistake.
      if (version?.state !== 'checking') return undefined
      const { name, integrity } = version
      const url = (which: string) => `${services.config.publicUrl}/v1/jobs/${id}/${which}`
      const previous = await findPrevious(query, id)
      return {
        kind: 'check',
        traceparent: null,
        package: { name, version: version.version, integrity, tarball_url: url('tarball') },
        previous:
          previous === undefined
            ? null
            : { name, version: previous.version, integrity: previous.integrity, tarball_url: url('previous') },
      }
    },
    exhausted: (query, id) => rejectExhausted(services, query, id),
  }
}

/** The tarball of a leased check. Throws `lease_lost`. */
export function openLeasedTarball(services: Services, id: string, lease: string): Promise<OpenedObject> {
  return openLeased(
    services,
    { kind: 'check', id, lease },
    async () => (await findLeased(services.database.query, id))?.object_key,
  )
}

/** The tarball of the version that a leased check compares with. Throws `lease_lost`. */
export function openLeasedPrevious(services: Services, id: string, lease: string): Promise<OpenedObject> {
  return openLeased(
    services,
    { kind: 'check', id, lease },
    async () => (await findPrevious(services.database.query, id))?.object_key,
  )
}

/** The newest published version of the same package, major and minor number below a version: what its patch follows. */
async function findPrevious(query: Queries, versionId: string) {
  const checked = await query
    .selectFrom('versions')
    .select(['package_id', 'version'])
    .where('id', '=', versionId)
    .executeTakeFirstOrThrow()
  const published = await query
    .selectFrom('versions')
    .select(['version', 'integrity', 'object_key'])
    .where('package_id', '=', checked.package_id)
    .where('state', '=', 'published')
    .execute()
  const { major, minor } = semver.parse(checked.version) ?? {}
  return published
    .filter(({ version }) => semver.major(version) === major && semver.minor(version) === minor)
    .filter(({ version }) => semver.prerelease(version) === null && semver.lt(version, checked.version))
    .sort((a, b) => semver.rcompare(a.version, b.version))
    .at(0)
}

async function findLeased(query: Queries, versionId: string) {
  return query
    .selectFrom('versions')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .select(['packages.name', 'versions.version', 'versions.state', 'versions.integrity', 'versions.object_key'])
    .where('versions.id', '=', versionId)
    .executeTakeFirst()
}

/**
 * Accepts a worker's report: the version becomes `published`, with its tags, the package's description and the episode
 * that the worker recorded, or `rejected`; all of it changes in one transaction. A report is accepted once: throws
 * `lease_lost` if the attempt is not the current one, `request_invalid` if the report is for another version.
 */
export async function finishCheck(
  services: Services,
  attempt: Attempt,
  report: CheckReport,
  sample: SampleEpisode | null = null,
): Promise<'published' | 'rejected'> {
  const { queue } = services
  return services.database.transaction(async (query) => {
    await queue.complete(query, attempt)
    const version = await lockVersion(services, query, attempt.id)
    if (report.name !== version.name || report.version !== version.version)
      throw new AgentGymError({
        code: 'request_invalid',
        message: `The report names ${report.name}@${report.version}, but the job checks ${version.name}@${version.version}.`,
        data: { field: 'report' },
      })
    const state = await decideVersion(query, version, report.ok && report.checks.every(({ ok }) => ok), report.checks)
    if (state === 'published' && sample !== null) await keepSampleEpisode(query, version.id, sample)
    return state
  })
}

/** Rejects a version whose check exhausted its attempts without a result. */
async function rejectExhausted(services: Services, query: Transaction<Schema>, versionId: string): Promise<void> {
  const checks = [
    {
      id: 'checker_failed',
      ok: false,
      message: `The check did not finish in ${maxAttempts} attempts: the scenario may run out of memory or time. Run \`agentgym scenario check\`, and publish the fixed scenario as a new version.`,
    },
  ]
  const version = await lockVersion(services, query, versionId)
  if (version.state === 'checking') await decideVersion(query, version, false, checks)
}

/** The result of the check `speed`. */
function speedOf(checks: VersionCheck[]): number | null {
  return checks.find(({ id, ok }) => id === 'speed' && ok)?.value ?? null
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

/** A version in state `checking`. The caller holds its package's lock. */
type UndecidedVersion = {
  id: string
  package_id: string
  version: string
  /** Empty if no tag was requested. */
  intended_tag: string
  /** Of the package. */
  name: string
}

/** Publishes a version, and updates tags and the package's description, or rejects it. The decision is final. */
export async function decideVersion(
  query: Transaction<Schema>,
  version: UndecidedVersion,
  ok: boolean,
  checks: VersionCheck[],
): Promise<'published' | 'rejected'> {
  const state = ok ? 'published' : 'rejected'
  await query
    .updateTable('versions')
    .set({
      state,
      checks: JSON.stringify(checks),
      steps_per_second: speedOf(checks),
      published_at: ok ? sql<Date>`now()` : null,
    })
    .where('id', '=', version.id)
    .execute()
  const tag = ok ? await tagPublished(query, version) : null
  await recordAudit(query, {
    actor: null,
    action: ok ? 'package.published' : 'package.rejected',
    subject: `${version.name}@${version.version}`,
    ip: null,
    data: ok ? { tag } : { failed: checks.filter((check) => !check.ok).map(({ id }) => id) },
  })
  return state
}

async function tagPublished(query: Transaction<Schema>, version: UndecidedVersion): Promise<string | null> {
  const versions = await taggedVersions(query, version.package_id)
  const published = versions.find((candidate) => candidate.version === version.version)
  const intended = version.intended_tag === '' ? null : version.intended_tag
  const tags = await tagsOf(query, version.package_id)
  const tag = published === undefined ? null : tagOnPublish(published, intended, tags, versions)
  if (tag !== null) await putTag(query, version.package_id, tag, version.version)
  return tag
}
