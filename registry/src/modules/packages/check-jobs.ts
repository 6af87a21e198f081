import type { Readable } from 'node:stream'
import type { Queries } from '../../core/database/database.ts'
import type { JobHandler } from '../../core/queue/job-handler.ts'
import { jobQueue } from '../../core/queue/job-queue.ts'
import { leaseLost } from '../../core/queue/lease.ts'
import type { Services } from '../../core/services.ts'
import { rejectExhausted } from './finish-check.ts'

/** The jobs that check an uploaded scenario. */
export function checkJobs(services: Services): JobHandler {
  return {
    kind: 'check',
    describe: async (query, { id, lease }) => {
      const version = await findLeased(query, id)
      // Decided already: its job was enqueued again by mistake, and is over.
      if (version?.state !== 'checking') return undefined
      const { name, integrity } = version
      const tarballUrl = `${services.config.publicUrl}/v1/jobs/${id}/tarball?${new URLSearchParams({ lease })}`
      return {
        kind: 'check',
        traceparent: null,
        package: { name, version: version.version, integrity, tarball_url: tarballUrl },
      }
    },
    exhausted: (id) => rejectExhausted(services, id),
  }
}

/** The tarball of a leased check. Throws `lease_lost`. */
export async function openLeasedTarball(
  services: Services,
  versionId: string,
  lease: string,
): Promise<{ body: Readable; size: number }> {
  const queue = await jobQueue(services)
  await queue.requireActive(queue.attemptOf('check', versionId, lease))
  const version = await findLeased(services.database.query, versionId)
  if (version === undefined) throw leaseLost()
  const object = await services.objects.stream(version.object_key)
  if (object === undefined)
    throw new Error(`${version.object_key} of ${version.name}@${version.version} is missing from the store`)
  return object
}

async function findLeased(query: Queries, versionId: string) {
  return query
    .selectFrom('versions')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .select(['packages.name', 'versions.version', 'versions.state', 'versions.integrity', 'versions.object_key'])
    .where('versions.id', '=', versionId)
    .executeTakeFirst()
}
