import type { Readable } from 'node:stream'
import { leaseLost } from '../../core/queue/leases.ts'
import type { Services } from '../../core/services.ts'
import { scenarioOf } from './train-jobs.ts'

type Opened = { body: Readable; size: number }

/** The tarball of the scenario that a leased run trains on. Throws `lease_lost`. */
export async function openLeasedScenario(services: Services, runId: string, lease: string): Promise<Opened> {
  await requireLease(services, runId, lease)
  const { query } = services.database
  const run = await query
    .selectFrom('training_runs')
    .select('scenario_version_id')
    .where('id', '=', runId)
    .executeTakeFirst()
  if (run === undefined) throw leaseLost()
  return openObject(services, (await scenarioOf(query, run)).object_key)
}

/** A checkpoint that a leased run goes on from. Throws `lease_lost`, also where it has gone for a later one. */
export async function openLeasedCheckpoint(
  services: Services,
  runId: string,
  lease: string,
  iteration: number,
): Promise<Opened> {
  await requireLease(services, runId, lease)
  const checkpoint = await services.database.query
    .selectFrom('checkpoints')
    .select('object_key')
    .where('run_id', '=', runId)
    .where('iteration', '=', iteration)
    .executeTakeFirst()
  if (checkpoint === undefined) throw leaseLost()
  return openObject(services, checkpoint.object_key)
}

async function requireLease(services: Services, runId: string, lease: string): Promise<void> {
  const { queue } = services
  await queue.requireActive(queue.attemptOf('train', runId, lease))
}

async function openObject({ objects }: Services, key: string): Promise<Opened> {
  const object = await objects.stream(key)
  if (object === undefined) throw new Error(`${key} is missing from the store`)
  return object
}
