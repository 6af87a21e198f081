import type { Run } from '@agentgym/contract'
import type { Connection } from '../account/connection.ts'
import { findById } from '../registry/find-by-id.ts'
import { listRuns, readRun } from './run-api.ts'

/** The run that a user named by its id or the beginning of it. Throws `run_not_found` and `usage_invalid`. */
export async function findRun(connection: Connection, text: string): Promise<Run> {
  return findById(text, {
    noun: 'run',
    listCommand: 'agentgym runs list',
    missing: 'run_not_found',
    read: (id) => readRun(connection, id),
    page: async (cursor) => {
      const { runs, next_cursor: next } = await listRuns(connection, { limit: 100, cursor })
      return { found: runs, next }
    },
  })
}
