import {
  type Run,
  type RunState,
  runListSchema,
  runSchema,
  type ServerStatus,
  type StartRunRequest,
  serverStatusSchema,
} from '@agentgym/contract'
import type { z } from 'zod'
import type { Connection } from '../account/connection.ts'
import { callApi, sendIdempotent } from '../registry/call-api.ts'
import { findById } from '../registry/find-by-id.ts'

type RunFilter = { state?: string; scenario?: string; account?: string; limit?: number; cursor?: string }

const endStates: readonly RunState[] = ['completed', 'failed', 'cancelled', 'budget_exceeded', 'paused']

/** Whether the run has ended: no worker has it or will get it on its own. */
export function hasEnded({ state }: Run): boolean {
  return endStates.includes(state)
}

export function runPath(id: string): string {
  return `/v1/runs/${encodeURIComponent(id)}`
}

/** Queues a run, with an idempotency key; by default one of its own. */
export function startRun(connection: Connection, request: StartRunRequest, key?: string): Promise<Run> {
  return sendIdempotent(connection, { method: 'POST', path: '/v1/runs', json: request, answer: runSchema }, key)
}

export function readRun(connection: Connection, id: string, signal?: AbortSignal): Promise<Run> {
  return callApi(connection, { path: runPath(id), answer: runSchema, signal })
}

/** Newest first, a page at a time. */
export function listRuns(connection: Connection, filter: RunFilter): Promise<z.infer<typeof runListSchema>> {
  return callApi(connection, { path: '/v1/runs', query: filter, answer: runListSchema })
}

export function cancelRun(connection: Connection, id: string): Promise<Run> {
  return callApi(connection, { method: 'POST', path: `${runPath(id)}/cancel`, answer: runSchema })
}

export function pauseRun(connection: Connection, id: string): Promise<Run> {
  return callApi(connection, { method: 'POST', path: `${runPath(id)}/pause`, answer: runSchema })
}

export function resumeRun(
  connection: Connection,
  id: string,
  json: { budget_minor?: number; pause_at?: number } = {},
): Promise<Run> {
  return callApi(connection, { method: 'POST', path: `${runPath(id)}/resume`, json, answer: runSchema })
}

export function readStatus(connection: Connection): Promise<ServerStatus> {
  return callApi(connection, { path: '/v1/status', answer: serverStatusSchema })
}

/** A run by its ID or the beginning of it. Throws `run_not_found` and `usage_invalid`. */
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
