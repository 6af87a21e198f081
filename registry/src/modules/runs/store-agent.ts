import type { Attempt } from '../../core/queue/job-handler.ts'
import type { Services } from '../../core/services.ts'
import { lockObject, readTarball, readUpload } from '../packages/index.ts'
import { writeRun } from './run-attempt.ts'
import { changeRun } from './run-state.ts'

/**
 * Takes the trained agent's tarball from the worker that has the run. It is the run's agent once the outcome names its
 * integrity, which this gives. Throws `lease_lost` and the codes `tarball_…` and `package_manifest_…`.
 */
export async function storeAgent(services: Services, attempt: Attempt, request: Request): Promise<string> {
  const { database, objects, config } = services
  await services.queue.requireActive(attempt)
  const bytes = await readUpload(request, config.limits.tarballBytes)
  const { integrity } = await readTarball(bytes, config.limits)
  const key = await objects.put(bytes)
  await writeRun(services, attempt, async ({ query, run }) => {
    await lockObject(database, query, key)
    // The sweeper may have come between.
    if (!(await objects.has(key))) await objects.put(bytes)
    const patch = { agent_object_key: key, agent_integrity: integrity, agent_size: bytes.length }
    await changeRun(query, run, patch)
  })
  return integrity
}
