import { AgentGymError, type Run } from '@agentgym/contract'
import type { Connection } from '../account/connection.ts'
import { listRuns, readRun } from './run-api.ts'

const whole = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const beginning = /^[0-9a-f][0-9a-f-]{3,35}$/
/** Of the user's newest runs; older ones have to be named in full. */
const pagesLooked = 20
const shownIds = 5

/** Whether a word may be a run's id or the beginning of one. */
export function looksLikeRunId(text: string): boolean {
  return beginning.test(text.toLowerCase())
}

/**
 * The run that a user named: by its id, or by the first four or more characters of it where only one of the user's own
 * runs begins so. Throws `run_not_found`, and `usage_invalid` for what is no id or begins several.
 */
export async function findRun(connection: Connection, text: string): Promise<Run> {
  const id = text.trim().toLowerCase()
  if (whole.test(id)) return readRun(connection, id)
  if (!beginning.test(id)) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: `${JSON.stringify(text.slice(0, 100))} is not the id of a run`,
      hint: 'Give at least the first 4 characters of its id; agentgym runs list shows them.',
    })
  }
  const found = await runsBeginning(connection, id)
  if (found.length === 1) return found[0]
  if (found.length === 0) {
    throw new AgentGymError({
      code: 'run_not_found',
      message: `none of your runs begins with ${id}`,
      hint: 'agentgym runs list shows your runs. A run of somebody else has to be named by its whole id.',
      data: { id },
    })
  }
  const ids = found.slice(0, shownIds).map((run) => run.id)
  throw new AgentGymError({
    code: 'usage_invalid',
    message: `${found.length} of your runs begin with ${id}: ${ids.join(', ')}${found.length > ids.length ? ', …' : ''}`,
    hint: `Give more of it, such as ${ids[0].slice(0, id.length + 4)}.`,
    data: { id, runs: found.map((run) => run.id) },
  })
}

async function runsBeginning(connection: Connection, id: string): Promise<Run[]> {
  const found: Run[] = []
  let cursor: string | undefined
  for (let page = 0; page < pagesLooked; page++) {
    const { runs, next_cursor: next } = await listRuns(connection, { limit: 100, cursor })
    found.push(...runs.filter((run) => run.id.startsWith(id)))
    if (next === null) break
    cursor = next
  }
  return found
}
