import { createInterface } from 'node:readline'
import { AgentGymError, type Trajectory } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Services } from '../../core/services.ts'

/** A sampled episode: line `line` of the object of newline JSON. */
type Sampled = { iteration: number; environment: number; object_key: string; line: number }
/** Where an export goes on: after that episode. */
type Place = Pick<Sampled, 'iteration' | 'environment'>

type Stores = Pick<Services, 'database' | 'objects'>

const pageRows = 100
/** How much one answer may hold of trajectories, over all that a batch asks for; each page has at least one of them. */
export const answerBytes = 8 * 2 ** 20
const start: Place = { iteration: 0, environment: -1 }

/** A run's sampled episodes as newline JSON, in order of iteration and environment: at most one object is in memory. */
export async function* trajectoryLines(stores: Stores, runId: string): AsyncGenerator<string> {
  for await (const { text } of sampledAfter(stores, runId, start)) yield `${text}\n`
}

/**
 * Some of them, and where to go on; null at the end. Takes what it gives off `room.bytes`. Throws `request_invalid` for a
 * cursor that was never given.
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
      // Retention may have taken it since the row was read.
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
      message: 'The field "cursor" is invalid: it is none that this run gave.',
      hint: 'Leave it out for the first page.',
      data: { field: 'cursor' },
    })
  return { iteration: Number(iteration), environment: Number(environment) }
}
