import { createHash, randomUUID } from 'node:crypto'
import { AgentGymError } from '@agentgym/contract'
import type { z } from 'zod'
import type { Connection } from '../account/connection.ts'
import { type ApiRequest, callApi } from './registry-api.ts'

/**
 * A request that must count once: where no answer came, it is sent again under the same key, and the server tells what
 * became of the first. Without a `key`, each call is a request of its own.
 */
export async function sendOnce<Schema extends z.ZodType>(
  connection: Connection,
  request: ApiRequest<Schema>,
  key: string = randomUUID(),
): Promise<z.infer<Schema>> {
  const send = () => callApi(connection, { ...request, headers: { ...request.headers, 'idempotency-key': key } })
  return send().catch((error) => {
    if (error instanceof AgentGymError && error.code === 'server_unreachable') return send()
    throw error
  })
}

/** The same key for the same words, on every machine: a command that is typed again meets its own request. */
export function keyOf(...words: (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(words)).digest('hex')
}
