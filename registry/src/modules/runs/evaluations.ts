import { AgentGymError, type EvaluationJob } from '@agentgym/contract'
import type { Selectable } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, requireActor } from '../../core/access/authorize.ts'
import { limitRate } from '../../core/access/rate-limit.ts'
import type { Queries } from '../../core/database/database.ts'
import type { EvaluationTable } from '../../core/database/training-schema.ts'
import { findReadablePackage } from '../packages/index.ts'
import { requireOwnRun, requireRun } from './run-access.ts'
import type { RunServices } from './run-services.ts'

export type EvaluationRequest = {
  actor: Actor | null
  runId: string
  episodes: number
  seed: number
  traceparent: string | null
  ip: string | null
}

/** Limit of evaluations per account, because each may take minutes. */
const evaluationRate = { limit: 60, windowSeconds: 60 }

/** Queues an evaluation of a run's agent. Throws `run_not_found`, `forbidden`, `run_has_no_agent`, `rate_limited`. */
export async function evaluateRun(services: RunServices, request: EvaluationRequest): Promise<EvaluationJob> {
  const { database } = services
  const { runId, episodes, seed, traceparent, ip } = request
  const known = requireActor(request.actor, 'training:evaluate')
  await limitRate(database, `evaluate-run:${known.accountId}`, evaluationRate)
  const { owner_id: ownerId } = (await requireOwnRun(database.query, known, runId, 'training:evaluate')).run
  await services.openJobs.requireRoom('evaluate', { accountId: known.accountId, ownerId }, episodes)
  const { queue } = services
  return database.transaction(async (query) => {
    const { run, actor } = await requireOwnRun(query, known, runId, 'training:evaluate')
    if (run.state !== 'completed')
      throw new AgentGymError({
        code: 'run_has_no_agent',
        message: `The run is ${run.state} and has no trained agent.`,
        hint: 'The agent is available when the run has completed.',
        data: { id: runId, state: run.state },
      })
    const row = await query
      .insertInto('evaluations')
      .values({ purpose: 'requested', run_id: runId, requested_by: actor.accountId, episodes, seed, traceparent })
      .returningAll()
      .executeTakeFirstOrThrow()
    await recordAudit(query, {
      actor,
      action: 'run.evaluate',
      subject: `run:${runId}`,
      ip,
      data: { evaluation: row.id },
    })
    await queue.enqueue(query, 'evaluate', row.id, { account: actor.accountId, owner: run.owner_id, episodes })
    return evaluationOf(row)
  })
}

/** An evaluation, if the caller may see its run or package. Throws `evaluation_not_found`. */
export async function findEvaluation(query: Queries, actor: Actor | null, id: string): Promise<EvaluationJob> {
  const known = requireActor(actor, 'training:view')
  const row = await query
    .selectFrom('evaluations')
    .leftJoin('versions', 'versions.id', 'evaluations.version_id')
    .leftJoin('packages', 'packages.id', 'versions.package_id')
    .selectAll('evaluations')
    .select('packages.name as package_name')
    .where('evaluations.id', '=', id)
    .executeTakeFirst()
  try {
    if (row?.run_id) await requireRun(query, known, row.run_id)
    else if (row?.package_name) await findReadablePackage(query, known, row.package_name)
  } catch (error) {
    if (error instanceof AgentGymError && /_not_found$/.test(error.code)) throw evaluationNotFound(id)
    throw error
  }
  if (row === undefined) throw evaluationNotFound(id)
  return evaluationOf(row)
}

/** As the API returns it. */
export function evaluationOf(row: Selectable<EvaluationTable>): EvaluationJob {
  const { id, state, episodes, evaluation, error } = row
  // Seeds of a season are secret while it runs; afterwards, anyone can compute them.
  const isSecret = row.season_id !== null
  return {
    id,
    run: row.run_id,
    state,
    episodes,
    seed: isSecret ? null : row.seed,
    evaluation: evaluation === null ? null : { ...evaluation, seed: isSecret ? null : evaluation.seed },
    error,
    created_at: row.created_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
  }
}

function evaluationNotFound(id: string): AgentGymError {
  return new AgentGymError({
    code: 'evaluation_not_found',
    message: `Evaluation ${id} does not exist, or you have no access to it.`,
    data: { id },
  })
}
