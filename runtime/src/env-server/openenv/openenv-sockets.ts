import { AgentGymError } from '@agentgym/contract'
import { upgradeWebSocket } from '@hono/node-server'
import type { Context } from 'hono'
import type { WSContext } from 'hono/ws'
import { z } from 'zod'
import type { EnvMetrics } from '../env-metrics.ts'
import type { EpisodeSession } from '../episode-session.ts'
import { failure, type JsonRpc, rpcCode } from './json-rpc.ts'
import type { OpenEnvSessions } from './openenv-sessions.ts'
import { playReset, playStep } from './play-openenv.ts'
import { wireState } from './wire-forms.ts'

/** Largest message of this protocol, in characters. */
const MESSAGE_CHARACTERS = 2 ** 20
/** Messages of a client that waits for no answers; further ones wait in its socket. */
const MOST_WAITING = 16

const object = z.record(z.string(), z.unknown())
const messageSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('reset'), data: object.default({}) }),
  z.strictObject({ type: z.literal('step'), data: object }),
  z.strictObject({ type: z.literal('state') }),
  z.strictObject({ type: z.literal('close') }),
  z.strictObject({ type: z.literal('mcp'), data: object }),
])
const messageTypes = ['reset', 'step', 'state', 'close', 'mcp']

/** What a socket's handlers need. */
export type SocketParts = { sessions: OpenEnvSessions; rpc: JsonRpc; metrics: EnvMetrics }

/** `WS /ws`: an environment a socket, or that of a session that exists. Every message but `close` gets one answer, in order. */
export function playSocket({ sessions, rpc, metrics }: SocketParts) {
  return upgradeWebSocket((c: Context) => {
    const requested = c.req.query('session_id')
    const open = async () => (requested ? sessions.attach(requested) : await sessions.create())
    const leave = (session: EpisodeSession) => (requested ? sessions.detach(session.id) : session.end())
    return socketEvents({
      ...{ open, leave },
      answer: (text, session) => answerMessage(text, session, { rpc, metrics }),
      refuse: (error) => errorFrame(error, error.code === 'capacity_reached' ? 'CAPACITY_REACHED' : 'SESSION_ERROR'),
    })
  })
}

/** `WS /mcp`: JSON-RPC frames, an environment a socket. */
export function rpcSocket({ sessions, rpc }: SocketParts) {
  return upgradeWebSocket(() =>
    socketEvents({
      open: () => sessions.create(),
      leave: (session) => session.end(),
      answer: (text, session) => rpc.answerText(text, session),
      refuse: (error) => failure(null, rpcCode(error), error.message, error.data),
    }),
  )
}

type SocketConversation = {
  open(): Promise<EpisodeSession>
  leave(session: EpisodeSession): Promise<void>
  /** The answer to a message; null closes the socket. */
  answer(text: string, session: EpisodeSession): Promise<unknown>
  /** What is sent before the socket is closed by the server. */
  refuse(error: AgentGymError): unknown
}

/** One socket with one session: opened with it, given back when it is gone, however it went. */
function socketEvents({ open, leave, answer, refuse }: SocketConversation) {
  let opening: Promise<EpisodeSession | null> = Promise.resolve(null)
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  let gone = false
  const refused = (error: unknown, socket: WSContext) => {
    const expected = error instanceof AgentGymError ? error : internal(error)
    if (!gone) socket.send(JSON.stringify(refuse(expected)))
    socket.close(expected.code === 'capacity_reached' ? 1013 : 1011)
  }
  const handle = async (data: unknown, socket: WSContext) => {
    const session = await opening
    if (session === null || gone) return
    session.touch()
    const reply = await answer(String(data), session)
    if (gone) return
    if (reply === null) socket.close()
    else socket.send(JSON.stringify(reply))
  }
  return {
    onOpen(_event: Event, socket: WSContext) {
      opening = open().then(
        (session) => {
          session.onEnd((why) => {
            if (why !== null) refused(why, socket)
          })
          return session
        },
        (error) => {
          refused(error, socket)
          return null
        },
      )
    },
    onMessage({ data }: MessageEvent, socket: WSContext) {
      const raw = socket.raw as { pause(): void; resume(): void }
      if (++waiting === MOST_WAITING) raw.pause()
      last = last
        .then(() => handle(data, socket))
        .catch((error) => refused(error, socket))
        .finally(() => {
          if (waiting-- === MOST_WAITING) raw.resume()
        })
    },
    onClose() {
      gone = true
      void opening.then((session) => session && leave(session))
    },
  }
}

async function answerMessage(
  text: string,
  session: EpisodeSession,
  { rpc, metrics }: Pick<SocketParts, 'rpc' | 'metrics'>,
): Promise<unknown> {
  if (text.length > MESSAGE_CHARACTERS)
    return plainError(`The message has more than ${MESSAGE_CHARACTERS} characters`, 'VALIDATION_ERROR')
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (error) {
    return plainError(`Invalid JSON: ${(error as Error).message}`, 'INVALID_JSON')
  }
  const { type } = Object(body) as { type?: unknown }
  if (!messageTypes.includes(String(type)))
    return plainError(`Unknown message type: ${String(type).slice(0, 80)}`, 'UNKNOWN_TYPE')
  const parsed = messageSchema.safeParse(body)
  if (!parsed.success) {
    const errors = parsed.error.issues.map(({ path, message }) => ({ type: 'value_error', loc: path, msg: message }))
    return plainError('Invalid message', 'VALIDATION_ERROR', { errors })
  }
  const message = parsed.data
  try {
    switch (message.type) {
      case 'reset':
        return { type: 'observation', data: await playReset(session, message.data) }
      case 'step':
        return { type: 'observation', data: await playStep(session, message.data, metrics) }
      case 'state':
        return { type: 'state', data: wireState(session) }
      case 'mcp':
        return { type: 'mcp', data: await rpc.answer(message.data, session) }
      case 'close':
        return null
    }
  } catch (error) {
    const expected = error instanceof AgentGymError ? error : internal(error)
    metrics.failed('openenv', expected.code)
    const isMistake = ['action_invalid', 'request_invalid'].includes(expected.code)
    return errorFrame(expected, isMistake ? 'VALIDATION_ERROR' : 'EXECUTION_ERROR')
  }
}

type ErrorKind =
  | 'INVALID_JSON'
  | 'UNKNOWN_TYPE'
  | 'VALIDATION_ERROR'
  | 'EXECUTION_ERROR'
  | 'CAPACITY_REACHED'
  | 'SESSION_ERROR'

/** An AgentGymError as OpenEnv's clients read it; `error` is the whole of it. */
function errorFrame(failure: AgentGymError, code: ErrorKind) {
  const { message, hint, data } = failure
  const said = [message, hint].filter((part) => part !== undefined).join(' ')
  const numbers = code === 'CAPACITY_REACHED' ? data : {}
  const errors =
    code === 'VALIDATION_ERROR' ? { errors: [{ type: 'value_error', loc: [data.field ?? 'data'], msg: said }] } : {}
  return plainError(said, code, { ...numbers, ...errors, error: failure.toReport() })
}

function plainError(message: string, code: ErrorKind, more: object = {}) {
  return { type: 'error', data: { message, code, ...more } }
}

function internal(cause: unknown): AgentGymError {
  console.error(cause)
  return new AgentGymError({ code: 'internal_error', message: 'The server failed; its log says why.' }, { cause })
}
