import { type AgentManifest, type RuntimeSignature, verificationStatementSchema } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import { areIndependent, type WorkerPlace } from '../../core/queue/worker-place.ts'
import type { Outcome, RecordedRun } from './decide-evaluation.ts'
import { isHeldBack } from './worker-holds.ts'
import type { WorkerReport } from './worker-outcome.ts'

/** A recorded run, with the worker's report. */
export type EvaluationRun = RecordedRun & {
  evaluationId: string
  workerId: string | null
  workerName: string | null
  report: WorkerReport
}

type NewRun = {
  evaluationId: string
  workerId: string | null
  owner: string
  runtime: RuntimeSignature
  outcome: Outcome
  report: WorkerReport
}

/** Records a worker's run. Stores episode returns only for held-out episodes. */
export async function recordRun(query: Transaction<Schema>, run: NewRun): Promise<void> {
  const { evaluationId, workerId, owner, runtime, outcome } = run
  const worker =
    workerId === null
      ? undefined
      : await query
          .selectFrom('workers')
          .select(['name', 'description'])
          .where('id', '=', workerId)
          .where('owner', '=', owner)
          .executeTakeFirst()
  const { checks, output_hash, results } = run.report
  const kept = results.map(({ episode_returns: returns, ...result }) => ({
    ...result,
    ...(result.id === 'held_out' ? { episode_returns: returns ?? null } : {}),
  }))
  await query
    .insertInto('evaluation_runs')
    .values({
      ...{ evaluation_id: evaluationId, worker_id: workerId, worker_name: worker?.name ?? null, owner },
      machine: worker?.description.machine ?? null,
      runtime: JSON.stringify(runtime),
      outcome: outcome.kind,
      result: 'result' in outcome ? outcome.result : null,
      message: 'message' in outcome ? outcome.message.slice(0, 4_000) : null,
      report: JSON.stringify({ checks, output_hash, results: kept }),
    })
    .execute()
}

/** The runs of an evaluation, oldest first. */
export async function runsOf(query: Queries, evaluationId: string): Promise<EvaluationRun[]> {
  const rows = await query
    .selectFrom('evaluation_runs')
    .selectAll()
    .where('evaluation_id', '=', evaluationId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    ...{ evaluationId, workerId: row.worker_id, workerName: row.worker_name },
    worker: row.worker_id ?? 'unknown',
    ...{ owner: row.owner, machine: row.machine, runtime: row.runtime, report: row.report },
    outcome: { kind: row.outcome, result: row.result ?? '', message: row.message ?? '' } as Outcome,
  }))
}

/** Workers seen within two lease periods. */
const presenceSeconds = 120

/** Whether a connected worker accepts evaluations and is independent of all of these. */
export async function hasAnotherWorker(query: Queries, places: readonly WorkerPlace[]): Promise<boolean> {
  const { rows } = await sql<WorkerPlace>`
    select distinct owner, description ->> 'machine' as machine from workers
    where evaluates and owner is not null and seen_at > now() - ${presenceSeconds} * interval '1 second'`.execute(query)
  for (const worker of rows)
    if (places.every((place) => areIndependent(place, worker)) && !(await isHeldBack(query, worker))) return true
  return false
}

/** Runtime signatures for which a version's claim holds: stated in agent.json, or confirmed by verifications. */
export async function referencesOf(
  query: Queries,
  versionId: string,
  manifest: Pick<AgentManifest, 'runtime'>,
): Promise<RuntimeSignature[]> {
  const rows = await query
    .selectFrom('verifications')
    .select('statement')
    .where('version_id', '=', versionId)
    .where('state', '=', 'verified')
    .orderBy('created_at', 'desc')
    .limit(20)
    .execute()
  const found = rows.flatMap(({ statement }) => {
    const signed = verificationStatementSchema.parse(JSON.parse(statement ?? ''))
    return signed.type === 'agentgym-verification-1' ? [signed.runtime] : signed.workers.map(({ runtime }) => runtime)
  })
  return [manifest.runtime, ...found]
}
