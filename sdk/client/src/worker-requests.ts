import type { Client } from './create-client.ts'

/**
 * How long a lease holds from when the server answered, in milliseconds by the server's own clock: ours may be wrong. The header
 * `date` is that clock when it answered; its milliseconds are cut off, so it is at most a second early.
 */
export function leaseMs(response: Response, expiresAt: string): number {
  const answeredAt = Date.parse(response.headers.get('date') ?? '')
  return Math.max(0, Date.parse(expiresAt) - (Number.isNaN(answeredAt) ? Date.now() : answeredAt + 999))
}

export function postJson(client: Client, path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return client.send(path, { method: 'POST', headers, body: JSON.stringify(body), signal })
}
