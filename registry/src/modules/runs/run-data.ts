import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import {
  AgentGymError,
  type checkpointListSchema,
  type runMetricsRequestSchema,
  type runMetricsSchema,
  type Trajectory,
} from '@agentgym/contract'
import { sql } from 'kysely'
import type { z } from 'zod'
import type { Queries } from '../../core/database/database.ts'
import type { Services } from '../../core/services.ts'
import { readCurve } from './curves/curves.store.ts'
import type { RunView } from './runs.store.ts'

/** Points of the curve in order, and the iteration after which the next page starts; null at the end. */
export async function metricsPage(
  query: Queries,
  runId: string,
  { after_iteration, limit }: z.output<typeof runMetricsRequestSchema>,
): Promise<z.infer<typeof runMetricsSchema>> {
  const points = await readCurve(query, runId, { after: after_iteration, limit: limit + 1 })
  const page = points.slice(0, limit).map(({ data }) => data)
  return { points: page, next: points.length > limit ? page[limit - 1].iteration : null }
}

/** Stored checkpoints, latest first. */
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
  // The sweeper may have deleted it since.
  const object = row && (await objects.stream(row.object_key))
  if (object === undefined)
    throw new AgentGymError({
      code: 'checkpoint_not_found',
      message: `The run has no checkpoint at iteration ${iteration}, or it is no longer kept.`,
      hint: `GET /v1/runs/${runId}/checkpoints lists the available ones.`,
      data: { id: runId, iteration },
    })
  return object
}

/** The object key of the agent's package. Throws `run_has_no_agent`. */
export function agentKeyOf(run: RunView): string {
  if (run.state !== 'completed' || run.agent_object_key === null)
    throw new AgentGymError({
      code: 'run_has_no_agent',
      message: `The run is ${run.state} and has no trained agent.`,
      hint: 'The agent is available when the run has completed.',
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

/** A sampled episode: line `line` of the object of newline JSON. */
type Sampled = { iteration: number; environment: number; object_key: string; line: number }
/** Position of an export: the episode after which it continues. */
type Place = Pick<Sampled, 'iteration' | 'environment'>

type Stores = Pick<Services, 'database' | 'objects'>

const pageRows = 100
/** Size limit of the trajectories in one response, across a whole batch. Each page has at least one. */
export const answerBytes = 8 * 2 ** 20
const start: Place = { iteration: 0, environment: -1 }

/** A run's sampled episodes as newline JSON, in order of iteration and environment: at most one object is in memory. */
export async function* trajectoryLines(stores: Stores, runId: string): AsyncGenerator<string> {
  for await (const { text } of sampledAfter(stores, runId, start)) yield `${text}\n`
}

/**
 * One page of trajectories and the next cursor; null at the end. Subtracts its size from `room.bytes`. Throws
 * `request_invalid` for an unknown cursor.
 */
export async function trajectoryPage(
  stores: Stores,
  runId: string,
  { limit, cursor }: { limit: number; cursor?: string },
  room = { bytes: answerBytes },
): Promise<{ trajectories: Trajectory[]; next_cursor: string | null }> {
  const trajectories: Trajectory[] = []
  let last: Place | undefined
  for await (const { text, ...place } of sampledAfter(stores, runId, cursor === undefined ? start : placeOf(cursor))) {
    if (last !== undefined && (trajectories.length === limit || text.length > room.bytes))
      return { trajectories, next_cursor: `${last.iteration}.${last.environment}` }
    trajectories.push(JSON.parse(text) as Trajectory)
    room.bytes -= text.length
    last = place
  }
  return { trajectories, next_cursor: null }
}

async function* sampledAfter(
  { database, objects }: Stores,
  runId: string,
  from: Place,
): AsyncGenerator<Place & { text: string }> {
  let lines: string[] = []
  let linesOf = ''
  for (let after = from; ; ) {
    const rows = await database.query
      .selectFrom('trajectories')
      .select(['iteration', 'environment', 'object_key', 'line'])
      .where('run_id', '=', runId)
      .where(sql<boolean>`(iteration, environment) > (${after.iteration}, ${after.environment})`)
      .orderBy('iteration')
      .orderBy('environment')
      .limit(pageRows)
      .execute()
    for (const { object_key: key, line, iteration, environment } of rows) {
      if (key !== linesOf) {
        lines = await readLines(objects, key)
        linesOf = key
      }
      // Retention may have deleted it since the row was read.
      if (line < lines.length) yield { iteration, environment, text: lines[line] }
    }
    if (rows.length < pageRows) return
    after = rows[pageRows - 1]
  }
}

async function readLines(objects: Services['objects'], key: string): Promise<string[]> {
  const object = await objects.stream(key)
  if (object === undefined) return []
  const lines: string[] = []
  for await (const line of createInterface({ input: object.body, crlfDelay: Number.POSITIVE_INFINITY }))
    lines.push(line)
  return lines
}

function placeOf(cursor: string): Place {
  const [, iteration, environment] = /^(\d{1,15})\.(\d{1,9})$/.exec(cursor) ?? []
  if (iteration === undefined)
    throw new AgentGymError({
      code: 'request_invalid',
      message: 'The field "cursor" is invalid: it does not come from this run.',
      hint: 'Omit it for the first page.',
      data: { field: 'cursor' },
    })
  return { iteration: Number(iteration), environment: Number(environment) }
}
