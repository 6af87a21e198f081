import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { clientOf } from '@agentgym/agent/packages'
import { AgentGymError } from '@agentgym/contract'
import type { z } from 'zod'
import type { Connection } from '../account/connection.ts'

type ApiRequest<Schema extends z.ZodType> = {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below the server's address, already encoded: `/v1/packages/@acme/maze`. */
  path: string
  query?: Record<string, string | number | undefined>
  json?: unknown
  headers?: Record<string, string>
  /** The schema of the response, which is always validated. */
  answer: Schema
  signal?: AbortSignal
}

export { clientOf }

const answerTimeoutMs = 60_000

/** One request to the REST API. Throws the server's error, with a hint for this machine where there is one. */
export async function callApi<Schema extends z.ZodType>(
  connection: Connection,
  request: ApiRequest<Schema>,
): Promise<z.infer<Schema>> {
  const { value } = await callApiWithHeaders(connection, request)
  return value
}

export async function callApiWithHeaders<Schema extends z.ZodType>(
  connection: Connection,
  request: ApiRequest<Schema>,
): Promise<{ value: z.infer<Schema>; headers: Headers }> {
  const { method = 'GET', path, signal } = request
  const repeatable = method === 'GET' || request.headers?.['idempotency-key'] !== undefined
  const patiently = repeatable ? outlastingOutage : <Value>(ask: () => Promise<Value>) => ask()
  const response = await explained(connection, () => patiently(() => sendRequest(connection, request), signal))
  const parsed = request.answer.safeParse(await readJson(response))
  if (parsed.success) return { value: parsed.data, headers: response.headers }
  throw new AgentGymError(
    {
      code: 'server_unreachable',
      message: `unexpected response from ${connection.server}${path}`,
      hint: 'Check that this is an AgentGym server and that its version fits this command. AGENTGYM_SERVER sets another server.',
      data: { server: connection.server, path },
    },
    { cause: parsed.error },
  )
}

function sendRequest<Schema extends z.ZodType>(
  connection: Connection,
  { method = 'GET', path, query, json, headers, signal }: ApiRequest<Schema>,
): Promise<Response> {
  return clientOf(connection)
    .send(path + queryText(query), {
      method,
      headers: {
        accept: 'application/json',
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: json === undefined ? undefined : JSON.stringify(json),
      signal: AbortSignal.any([AbortSignal.timeout(answerTimeoutMs), ...(signal ? [signal] : [])]),
    })
    .catch((error) => {
      throw isTimeout(error) ? tooSlow(connection, path, error) : error
    })
}

const mostAttempts = 4
const longestWaitSeconds = 10

/**
 * Sends a request that may be repeated, again when the server says to: its database or storage is down, or a proxy has no
 * server. About as long as a restart of PostgreSQL takes; then its error is thrown.
 */
export async function outlastingOutage<Value>(ask: () => Promise<Value>, signal?: AbortSignal): Promise<Value> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask()
    } catch (error) {
      const seconds = isOutage(error) ? Number(error.data.retry_after_seconds) : Number.NaN
      if (!(seconds <= longestWaitSeconds) || attempt === mostAttempts) throw error
      await delay(seconds * 1_000, undefined, { signal })
    }
  }
}

/** Of the server, and of proxies in front of it, whose answers have no code of ours. */
const outageCodes = ['database_unavailable', 'storage_unavailable', 'internal_error']

/** Whether the server answers that it is unavailable, and when to try again. */
export function isOutage(error: unknown): error is AgentGymError {
  if (!(error instanceof AgentGymError) || error.data.status !== 503) return false
  return outageCodes.includes(error.code) && typeof error.data.retry_after_seconds === 'number'
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError'
}

function tooSlow({ server }: Connection, path: string, cause: unknown): AgentGymError {
  const message = `${server} did not answer ${path} within ${answerTimeoutMs / 1000} s`
  return new AgentGymError({ code: 'server_unreachable', message, data: { server, path } }, { cause })
}

/** Runs a request; errors about the login or the connection get a hint for this machine. */
export async function explained<Value>(connection: Connection, ask: () => Promise<Value>): Promise<Value> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    const hint = hintFor(error, connection)
    if (hint === undefined) throw error
    const { code, message } = error
    throw new AgentGymError(
      { code, message, hint, data: { ...error.data, server: connection.server } },
      { cause: error },
    )
  }
}

/** The right hint depends on where the token comes from, which the server cannot know. */
function hintFor(error: AgentGymError, { server, tokenSource }: Connection): string | undefined {
  switch (error.code) {
    case 'unauthenticated':
      if (tokenSource === 'environment') {
        return `The token in AGENTGYM_TOKEN is invalid, revoked or expired. Set a new one, or unset it and run agentgym login.`
      }
      if (tokenSource === 'login')
        return `Your login at ${server} has expired or was revoked. Log in again: agentgym login.`
      return `Log in to ${server}: agentgym login.`
    case 'server_unreachable':
      return /\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|\/|$)/.test(server)
        ? 'Start a server with agentgym serve, or set AGENTGYM_SERVER to another one.'
        : 'Check your network and the server address (AGENTGYM_SERVER, or the server you logged in to).'
    case 'payout_not_ready':
      return 'Set up payouts first: agentgym earnings set-up.'
    case 'payment_declined':
      return 'You were not charged. Try another amount or payment method.'
    case 'package_not_found':
      return error.hint ?? `Find packages with agentgym search. Private packages need agentgym login.`
    default:
      return undefined
  }
}

function queryText(query: ApiRequest<z.ZodType>['query'] = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string | number] => entry[1] !== undefined)
  const search = new URLSearchParams(given.map(([key, value]): [string, string] => [key, String(value)]))
  return given.length === 0 ? '' : `?${search}`
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    return undefined
  }
}

/**
 * A request with an idempotency key: if no response arrives, it is sent again under the same key and counts once. Without
 * a `key`, each call is a new request.
 */
export async function sendIdempotent<Schema extends z.ZodType>(
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

/** An idempotency key from what a request is about: the same command typed twice sends the same key. */
export function idempotencyKey(...words: (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(words)).digest('hex')
}
