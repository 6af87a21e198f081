import { AgentGymError, parseJson } from '@agentgym/contract'
import { z } from 'zod'
import type { EnvMetrics } from '../env-metrics.ts'
import type { EpisodeSession } from '../episode-session.ts'
import type { ServedEnvironment } from '../served-environment.ts'
import type { OpenEnvSessions } from './openenv-sessions.ts'
import { playStep } from './play-openenv.ts'
import { readArguments } from './wire-forms.ts'

const requestSchema = z.strictObject({
  jsonrpc: z.literal('2.0'),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).default({}),
  id: z.union([z.string(), z.number()]).nullish(),
})
type RpcRequest = z.infer<typeof requestSchema>

const PARSE_ERROR = -32_700
const INVALID_REQUEST = -32_600
const METHOD_NOT_FOUND = -32_601
const INVALID_PARAMS = -32_602
const INTERNAL_ERROR = -32_603
const SERVER_ERROR = -32_000

export type RpcResponse = {
  jsonrpc: '2.0'
  id: string | number | null
  result?: unknown
  error?: { code: number; message: string; data: unknown }
}

/** OpenEnv's JSON-RPC of one environment: tools, and sessions that requests and sockets share. */
export class JsonRpc {
  readonly #environment: ServedEnvironment
  readonly #sessions: OpenEnvSessions
  readonly #metrics: EnvMetrics

  constructor(environment: ServedEnvironment, sessions: OpenEnvSessions, metrics: EnvMetrics) {
    this.#environment = environment
    this.#sessions = sessions
    this.#metrics = metrics
  }

  /** Answers a text; what is wrong with it is part of the answer. `own` is the session of the socket that it came through. */
  async answerText(text: string, own: EpisodeSession | null = null): Promise<RpcResponse> {
    const body = parseJson(text)
    return body === undefined ? failure(null, PARSE_ERROR, 'Parse error') : this.answer(body, own)
  }

  async answer(body: unknown, own: EpisodeSession | null = null): Promise<RpcResponse> {
    const parsed = requestSchema.safeParse(body)
    if (!parsed.success) return failure(null, INVALID_REQUEST, `Invalid request: ${parsed.error.issues[0].message}`)
    const request = parsed.data
    const id = request.id ?? null
    try {
      return { jsonrpc: '2.0', id, result: await this.#call(request, own) }
    } catch (error) {
      if (error instanceof RpcFailure) return failure(id, error.code, error.message)
      if (!(error instanceof AgentGymError)) throw error
      this.#metrics.failed('openenv', error.code)
      return failure(id, rpcCode(error), error.message, error.data)
    }
  }

  async #call({ method, params }: RpcRequest, own: EpisodeSession | null): Promise<unknown> {
    switch (method) {
      case 'openenv/session/create':
        return { session_id: (own ?? (await this.#sessions.create())).id }
      case 'openenv/session/close':
        return this.#close(params.session_id, own)
      case 'tools/list': {
        if (own === null && params.session_id !== undefined) this.#sessions.get(String(params.session_id)).touch()
        return { tools: this.#environment.form.tools }
      }
      case 'tools/call':
        return this.#callTool(params, own)
      default:
        throw new RpcFailure(METHOD_NOT_FOUND, `Method not found: ${method.slice(0, 80)}`)
    }
  }

  #close(target: unknown, own: EpisodeSession | null) {
    if (typeof target !== 'string' || target === '')
      throw new RpcFailure(INVALID_PARAMS, "Invalid params - 'session_id' is required")
    if (own?.id === target)
      throw new RpcFailure(INVALID_REQUEST, 'Cannot close active WebSocket-managed session via MCP method')
    return this.#sessions.close(target)
  }

  /** Begins an episode where none has begun, since MCP has no reset. Without a session, it is played in one that ends with the call. */
  async #callTool({ name, arguments: given, session_id }: RpcRequest['params'], own: EpisodeSession | null) {
    if (typeof name !== 'string' || name === '') throw new RpcFailure(INVALID_PARAMS, "Missing 'name' in params")
    const named = own ?? (session_id === undefined ? null : this.#sessions.get(String(session_id)))
    const session = named ?? (await this.#sessions.create())
    try {
      session.touch()
      if (session.state.episodeId === null) await session.reset()
      const data = { tool_name: name, arguments: readArguments(given) }
      const { observation, reward, done, metadata } = await playStep(session, data, this.#metrics)
      const error = observation.error as { message: string } | null
      const text = error?.message ?? String(observation.result)
      const structuredContent = { observation, reward, done, metadata }
      return { content: [{ type: 'text', text }], structuredContent, isError: error !== null, data: text }
    } finally {
      if (named === null) await session.end()
    }
  }
}

class RpcFailure extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export function rpcCode({ code }: AgentGymError): number {
  if (code === 'capacity_reached') return SERVER_ERROR
  return ['session_not_found', 'action_invalid', 'request_invalid'].includes(code) ? INVALID_PARAMS : INTERNAL_ERROR
}

export function failure(id: RpcResponse['id'], code: number, message: string, data: unknown = null): RpcResponse {
  return { jsonrpc: '2.0', id, error: { code, message, data } }
}
