import { type CallAnswer, callAnswersTakenSchema, type LeasedCalls, leasedCallsSchema } from '@agentgym/contract'
import type { Client } from './create-client.ts'
import { leaseMs, postJson } from './worker-requests.ts'

export type LeaseCallsRequest = {
  /** Chosen by the process at its start. */
  workerId: string
  /** Ids of versions that it holds loaded: at most 64. */
  loaded: string[]
  /** How long the answer may wait for a call to come: at most 25,000 ms. */
  waitMs: number
  signal?: AbortSignal
}

/** Calls of one version, leased to us for `leaseMs` from now on by the server's clock; undefined where none came. */
export async function leaseCalls(
  client: Client,
  { workerId, loaded, waitMs, signal }: LeaseCallsRequest,
): Promise<(LeasedCalls & { leaseMs: number }) | undefined> {
  const body = { worker_id: workerId, loaded, wait_ms: waitMs }
  const response = await postJson(client, '/v1/hosted-calls/lease', body, signal)
  if (response.status === 204) return undefined
  const calls = leasedCallsSchema.parse(await response.json())
  return { ...calls, leaseMs: leaseMs(response, calls.expires_at) }
}

/**
 * Hands in what the agent does upon calls of one lease, each once; asking again does nothing twice. `late` are those that the
 * lease no longer holds: they went to another worker, or nobody waits for them. That is no failure.
 */
export async function answerCalls(
  client: Client,
  { lease }: Pick<LeasedCalls, 'lease'>,
  answers: CallAnswer[],
  signal?: AbortSignal,
): Promise<{ taken: number; late: number }> {
  const response = await postJson(client, '/v1/hosted-calls/answers', { lease, answers }, signal)
  return callAnswersTakenSchema.parse(await response.json())
}
