import { type CheckReport, type JobKind, type LeasedJob, leasedJobSchema } from '@agentgym/contract'
import type { Client } from './create-client.ts'

/** The next job of one of `kinds`, leased to us; undefined where there is none. */
export async function leaseJob(client: Client, kinds: JobKind[], signal?: AbortSignal): Promise<LeasedJob | undefined> {
  const response = await post(client, '/v1/jobs/lease', { kinds }, signal)
  return response.status === 204 ? undefined : leasedJobSchema.parse(await response.json())
}

/** Keeps the lease; gives when it now ends. Throws `lease_lost` where it is not ours any more. */
export async function sendHeartbeat(client: Client, { id, lease }: LeasedJob, signal?: AbortSignal): Promise<Date> {
  const response = await post(client, `/v1/jobs/${encodeURIComponent(id)}/heartbeat`, { lease }, signal)
  const { expires_at } = (await response.json()) as { expires_at: string }
  return new Date(expires_at)
}

/** Hands in what was found. Throws `lease_lost` where another worker has the job now: then this result counts nothing. */
export async function sendResult(client: Client, { id, lease }: LeasedJob, report: CheckReport): Promise<void> {
  await post(client, `/v1/jobs/${encodeURIComponent(id)}/result`, { lease, report })
}

function post(client: Client, path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return client.send(path, { method: 'POST', headers, body: JSON.stringify(body), signal })
}
