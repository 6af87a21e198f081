import { AgentGymError, type Demonstration, type ReplayResultRequest } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { Attempt, JobHandler } from '../../core/queue/job-handler.ts'
import { maxAttempts } from '../../core/queue/job-queue.ts'
import { type OpenedObject, openLeased } from '../../core/queue/leased-object.ts'
import type { Services } from '../../core/services.ts'

/** The jobs that replay an episode of a person. */
export function replayJobs({ config }: Services): JobHandler {
  return {
    kind: 'replay',
    describe: async (query, { id }) => {
      const row = await findReplay(query, id)
      if (row?.state !== 'checking' || row.actions === null) return undefined
      const { name, version, integrity, seed, episode } = row
      const scenario = {
        ...{ name, version, hash: row.bundle_hash ?? '', integrity },
        tarball_url: `${config.publicUrl}/v1/jobs/${id}/replay/tarball`,
      }
      const actions: number[][] = JSON.parse(row.actions)
      return { kind: 'replay', traceparent: null, replay: { scenario, seed, episode, actions } }
    },
    exhausted: (query, id) =>
      refuse(query, id, `The episode was not replayed in ${maxAttempts} attempts. The scenario may run out of memory.`),
  }
}

/** The tarball of a leased replay's scenario. Throws `lease_lost`. */
export function openReplayTarball(services: Services, id: string, lease: string): Promise<OpenedObject> {
  return openLeased(
    services,
    { kind: 'replay', id, lease },
    async () => (await findReplay(services.database.query, id))?.object_key,
  )
}

type Result = Omit<ReplayResultRequest, 'lease'>

/**
 * Accepts what a worker's replay gave, once, in the transaction that ends the job: the episode is kept with the computed
 * score, or refused. Throws `lease_lost`, and `request_invalid` for another episode.
 */
export async function finishReplay({ database, queue }: Services, attempt: Attempt, result: Result): Promise<void> {
  await database.transaction(async (query) => {
    await queue.complete(query, attempt)
    const row = await findReplay(query, attempt.id)
    if (row?.state !== 'checking' || row.actions === null) throw new Error(`there is no episode ${attempt.id} to keep`)
    const { episode: replayed, error } = result
    if (replayed === null) return refuse(query, attempt.id, error?.message ?? 'The worker reported no reason.')
    const actions: number[][] = JSON.parse(row.actions)
    if (replayed.episode !== row.episode || replayed.rewards.length !== actions.length)
      throw new AgentGymError({
        code: 'request_invalid',
        message: 'The result is not of the episode of the job.',
        data: { field: 'episode' },
      })
    const { tasks, ...fields } = replayed
    const sum = replayed.rewards.reduce((total, reward) => total + reward, 0)
    const line: Demonstration = { ...fields, actions, return: sum }
    await query
      .updateTable('demonstrations')
      .set({ state: 'kept', actions: null, return_sum: sum, line: JSON.stringify(line), tasks: JSON.stringify(tasks) })
      .where('id', '=', attempt.id)
      .execute()
  })
}

async function refuse(query: Transaction<Schema>, id: string, message: string): Promise<void> {
  await query
    .updateTable('demonstrations')
    .set({ state: 'refused', actions: null, message: message.slice(0, 4_000) })
    .where('id', '=', id)
    .where('state', '=', 'checking')
    .execute()
}

function findReplay(query: Queries, id: string) {
  return query
    .selectFrom('demonstrations')
    .innerJoin('versions', 'versions.id', 'demonstrations.version_id')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .select(['demonstrations.state', 'demonstrations.seed', 'demonstrations.episode', 'demonstrations.actions'])
    .select(['packages.name', 'versions.version', 'versions.bundle_hash', 'versions.integrity', 'versions.object_key'])
    .where('demonstrations.id', '=', id)
    .executeTakeFirst()
}

/** Recreates missing jobs of episodes in state `checking`, for example after the queue was restored from a backup. */
export async function enqueueLostReplays({ database, queue, log }: Services): Promise<void> {
  const checking = await database.query
    .selectFrom('demonstrations')
    .select(['id', 'account_id'])
    .where('state', '=', 'checking')
    .where('removed_at', 'is', null)
    .orderBy('created_at')
    .limit(10_000)
    .execute()
  for (const { id, account_id: account } of checking)
    if (await queue.recover('replay', id, { account })) log.warn('a kept episode had no job', { demonstration_id: id })
}
