import { AgentGymError } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, requireOperator } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { WorkerPlace } from '../../core/queue/worker-place.ts'
import type { Services } from '../../core/services.ts'

/** The run that others contradict. */
type ContradictedRun = WorkerPlace & {
  evaluationId: string
  worker: string
  workerId: string | null
  workerName: string | null
}

/**
 * Whether workers at that place are held back. A hold without a machine applies to all workers of the owner that report
 * none.
 */
export async function isHeldBack(query: Queries, { owner, machine }: WorkerPlace): Promise<boolean> {
  const row = await query
    .selectFrom('worker_holds')
    .select('id')
    .where('released_at', 'is', null)
    .where('owner', '=', owner)
    .where(sql<boolean>`machine is not distinct from ${machine}`)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Holds a worker back from evaluations, because others with its signature contradict it. Operators see it and can
 * release it.
 */
export async function holdBack(
  { log }: Pick<Services, 'log'>,
  query: Transaction<Schema>,
  run: ContradictedRun,
): Promise<void> {
  if (await isHeldBack(query, run)) return
  const name = run.workerName ?? run.worker
  await query
    .insertInto('worker_holds')
    .values({
      ...{ worker_id: run.workerId, worker_name: run.workerName, owner: run.owner, machine: run.machine },
      evaluation_id: run.evaluationId,
      reason: `Two other workers with the same runtime signature got a different result than ${name}.`,
    })
    .execute()
  log.error('a worker is held back: others contradict its results', {
    ...{ worker: name, worker_id: run.workerId, machine: run.machine, evaluation_id: run.evaluationId },
  })
}

/** Releases a held-back worker. For operators. Throws `worker_hold_not_found`. */
export async function releaseHold(
  { database }: Services,
  { actor, id, ip }: { actor: Actor | null; id: string; ip: string | null },
): Promise<void> {
  const known = requireOperator(actor, 'account:manage')
  await database.transaction(async (query) => {
    const released = await query
      .updateTable('worker_holds')
      .set({ released_at: sql<Date>`now()`, released_by: known.accountId })
      .where('id', '=', id)
      .where('released_at', 'is', null)
      .returning(['worker_name', 'evaluation_id'])
      .executeTakeFirst()
    if (released === undefined)
      throw new AgentGymError({
        code: 'worker_hold_not_found',
        message: `No held-back worker has the ID ${id}.`,
        hint: '`agentgym status` lists the workers that are held back.',
        data: { id },
      })
    await recordAudit(query, {
      ...{ actor: known, ip, action: 'worker.release', subject: `worker:${released.worker_name ?? 'unknown'}` },
      data: { hold: id, evaluation: released.evaluation_id },
    })
  })
}
