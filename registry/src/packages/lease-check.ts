import type { Readable } from 'node:stream'
import { AgentGymError, type LeasedJob } from '@agentgym/contract'
import type { Services } from '../server/services.ts'
import { jobQueue } from './job-queue.ts'

/** The next version to check, leased to whoever asks; undefined where there is none. */
export async function leaseCheck(services: Services): Promise<LeasedJob | undefined> {
  const queue = await jobQueue(services)
  const { database, config } = services
  for (;;) {
    const job = await queue.lease()
    if (job === undefined) return undefined
    const version = await findLeased(services, job.versionId)
    if (version?.state === 'checking') {
      const { name, integrity } = version
      const query = new URLSearchParams({ lease: job.lease })
      const tarballUrl = `${config.publicUrl}/v1/jobs/${job.versionId}/tarball?${query}`
      return {
        id: job.versionId,
        kind: 'check',
        lease: job.lease,
        package: { name, version: version.version, integrity, tarball_url: tarballUrl },
        expires_at: job.expiresAt.toISOString(),
      }
    }
    // Decided already: its job was enqueued again by mistake, and is over.
    await database.transaction((query) => queue.complete(query, job))
  }
}

/** The tarball of a leased job. Throws `lease_lost`. */
export async function openLeasedTarball(
  services: Services,
  versionId: string,
  lease: string,
): Promise<{ body: Readable; size: number }> {
  const queue = await jobQueue(services)
  const attempt = queue.attemptOf(versionId, lease)
  const version = await findLeased(services, versionId)
  if (version === undefined || !(await queue.isActive(attempt)))
    throw new AgentGymError({ code: 'lease_lost', message: 'The lease is over.', hint: 'Lease another job.' })
  const object = await services.objects.stream(version.object_key)
  if (object === undefined)
    throw new Error(`${version.object_key} of ${version.name}@${version.version} is missing from the store`)
  return object
}

async function findLeased({ database }: Services, versionId: string) {
  return database.query
    .selectFrom('versions')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .select(['packages.name', 'versions.version', 'versions.state', 'versions.integrity', 'versions.object_key'])
    .where('versions.id', '=', versionId)
    .executeTakeFirst()
}
