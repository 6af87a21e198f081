import type { Readable } from 'node:stream'
import {
  AgentGymError,
  type checkpointListSchema,
  type ProgressEvent,
  type runMetricsRequestSchema,
  type runMetricsSchema,
} from '@agentgym/contract'
import type { z } from 'zod'
import type { Queries } from '../../core/database/database.ts'
import type { Services } from '../../core/services.ts'
import type { RunView } from './runs.store.ts'

/** Points of the curve in order, and the iteration to ask on after; null at the end. */
export async function metricsPage(
  query: Queries,
  runId: string,
  { after_iteration, limit }: z.output<typeof runMetricsRequestSchema>,
): Promise<z.infer<typeof runMetricsSchema>> {
  const rows = await query
    .selectFrom('training_metrics')
    .select(['iteration', 'data'])
    .where('run_id', '=', runId)
    .where('iteration', '>', after_iteration)
    .orderBy('iteration')
    .limit(limit + 1)
    .execute()
  const page = rows.slice(0, limit)
  return {
    // Held to its schema when it came in.
    points: page.map(({ data }) => data as ProgressEvent),
    next: rows.length > limit ? page[limit - 1].iteration : null,
  }
}

/** Those that are kept, latest first. */
export async function listCheckpoints(
  query: Queries,
  runId: string,
  publicUrl: string,
): Promise<z.infer<typeof checkpointListSchema>> {
  const rows = await query
    .selectFrom('checkpoints')
    .select(['iteration', 'steps', 'size', 'sha256', 'created_at'])
    .where('run_id', '=', runId)
    .orderBy('iteration', 'desc')
    .execute()
  const checkpoints = rows.map(({ created_at, ...checkpoint }) => ({
    ...checkpoint,
    created_at: created_at.toISOString(),
    url: `${publicUrl}/v1/runs/${runId}/checkpoints/${checkpoint.iteration}`,
  }))
  return { checkpoints }
}

/** Throws `checkpoint_not_found`. */
export async function openCheckpoint(
  { database, objects }: Pick<Services, 'database' | 'objects'>,
  runId: string,
  iteration: number,
): Promise<{ body: Readable; size: number }> {
  const row = await database.query
    .selectFrom('checkpoints')
    .select('object_key')
    .where('run_id', '=', runId)
    .where('iteration', '=', iteration)
    .executeTakeFirst()
  // The sweeper may have come since.
  const object = row && (await objects.stream(row.object_key))
  if (object === undefined)
    throw new AgentGymError({
      code: 'checkpoint_not_found',
      message: `The run has no checkpoint of iteration ${iteration}, or it is no longer kept.`,
      hint: `GET /v1/runs/${runId}/checkpoints lists those that are there.`,
      data: { id: runId, iteration },
    })
  return object
}

/** Under which object the agent's package is kept. Throws `run_has_no_agent`. */
export function agentKeyOf(run: RunView): string {
  if (run.state !== 'completed' || run.agent_object_key === null)
    throw new AgentGymError({
      code: 'run_has_no_agent',
      message: `The run is ${run.state} and has no trained agent.`,
      hint: 'An agent is there once the run has completed.',
      data: { id: run.id, state: run.state },
    })
  return run.agent_object_key
}

/** The package of the run's agent. Throws `run_has_no_agent`. */
export async function openAgent(
  { objects }: Pick<Services, 'objects'>,
  run: RunView,
): Promise<{ body: Readable; size: number }> {
  const key = agentKeyOf(run)
  const object = await objects.stream(key)
  if (object === undefined) throw new Error(`${key} of run ${run.id} is missing from the store`)
  return object
}
