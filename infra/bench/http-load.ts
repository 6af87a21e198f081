import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

/** Kept connections, so that a request's cost is the server's. */
export const agent = new Agent({ keepAlive: true, maxSockets: 64 })

export type LoadRequest = {
  method?: string
  headers?: IncomingHttpHeaders
  body?: string | Uint8Array
  status?: number
}

/**
 * Node's own client: less work on our side than `fetch`, where both sides share the cores. Resolves to the body;
 * rejects if the response has a status other than `status` (default: 200).
 */
export function request(
  url: string,
  { method = 'GET', headers, body, status = 200 }: LoadRequest = {},
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const requested = httpRequest(url, { agent, method, headers }, (response) => {
    let text = ''
    response.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    response.on('end', () => {
      if (response.statusCode === status) resolve(text)
      else reject(new Error(`${method} ${url} answered ${response.statusCode}: ${text.slice(0, 500)}`))
    })
  })
  requested.on('error', reject)
  requested.end(body)
  return promise
}

/**
 * Calls `ask` at a fixed rate, each when it is due and not when the one before is answered; gives the milliseconds from
 * when each was due to its answer.
 */
export async function atFixedRate(
  { perSecond, requests }: { perSecond: number; requests: number },
  ask: (index: number) => Promise<unknown>,
): Promise<number[]> {
  const times: number[] = []
  const pending: Promise<void>[] = []
  const startMs = performance.now() + 100
  for (let index = 0; index < requests; index++) {
    const dueMs = startMs + (index * 1000) / perSecond
    await delay(Math.max(0, dueMs - performance.now()))
    pending.push(
      ask(index).then(() => {
        times.push(performance.now() - dueMs)
      }),
    )
  }
  await Promise.all(pending)
  return times
}

export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}
