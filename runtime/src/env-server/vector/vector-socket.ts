import { AgentGymError, parseJson } from '@agentgym/contract'
import { type ErrorFrame, VECTOR_PATH, vectorLimits, vectorRequestSchema } from '@agentgym/contract/protocols'
import { upgradeWebSocket } from '@hono/node-server'
import type { Hono } from 'hono'
import type { WSContext } from 'hono/ws'
import semver from 'semver'
import type { EnvMetrics } from '../env-metrics.ts'
import type { ServedEnvironment } from '../served-environment.ts'
import type { Sessions } from '../sessions.ts'
import { VectorSession } from './vector-session.ts'

/** Largest text frame of a client, in characters. */
const TEXT_CHARACTERS = 65_536
/** Closing codes of RFC 6455. */
const INTERNAL_ERROR = 1011
const TRY_AGAIN_LATER = 1013

export type VectorContext = { environments: readonly ServedEnvironment[]; sessions: Sessions; metrics: EnvMetrics }

/** `WS /v1/vector`: N environments a socket. `environments` are those that `open` can name; the first is the default. */
export function mountVector(app: Hono, context: VectorContext): void {
  app.get(
    VECTOR_PATH,
    upgradeWebSocket(() => socketEvents(context)),
  )
}

function socketEvents(context: VectorContext) {
  const connection = new Connection(context)
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  return {
    onMessage({ data }: MessageEvent, socket: WSContext) {
      const raw = socket.raw as { pause(): void; resume(): void }
      // What a client sends without waiting for answers stays in its socket.
      if (++waiting === vectorLimits.pending) raw.pause()
      last = last
        .then(() => connection.handle(data, socket))
        .finally(() => {
          if (waiting-- === vectorLimits.pending) raw.resume()
        })
    },
    onClose() {
      connection.close()
    },
  }
}

class Connection {
  readonly #context: VectorContext
  #session: VectorSession | undefined
  #gone = false

  constructor(context: VectorContext) {
    this.#context = context
  }

  /** Answers one frame. Never rejects. */
  async handle(data: unknown, socket: WSContext): Promise<void> {
    if (this.#gone) return
    try {
      const answer =
        typeof data === 'string' ? await this.#answerText(data, socket) : await this.#answerFrame(bytesOf(data))
      if (this.#gone) return
      socket.send(typeof answer === 'string' ? answer : (answer as Uint8Array<ArrayBuffer>))
    } catch (error) {
      this.#refuse(error, requestOf(data), socket)
    }
  }

  close(): void {
    this.#gone = true
    void this.#session?.end()
  }

  async #answerText(text: string, socket: WSContext): Promise<string> {
    const parsed = text.length > TEXT_CHARACTERS ? undefined : vectorRequestSchema.safeParse(parseJson(text))
    if (!parsed?.success) {
      const [issue] = parsed?.error.issues ?? []
      const why = issue === undefined ? `it has ${text.length} characters` : `${issue.path.join('.')}: ${issue.message}`
      throw frameInvalid(`a text frame is none of open and render (${why})`)
    }
    const message = parsed.data
    const open = this.#session
    if (message.type === 'render') {
      if (open === undefined || !open.opened.render_modes.includes(message.mode) || message.environment > 0)
        throw frameInvalid('render is for the environment of a connection that has one, after open')
      return JSON.stringify({ type: 'rendered', text: await open.render() })
    }
    if (open !== undefined) throw frameInvalid('open does not belong here')
    const environment = findEnvironment(this.#context.environments, message.scenario)
    const session = await VectorSession.open(message, { ...this.#context, environment }, (why) =>
      this.#refuse(why, null, socket),
    )
    if (this.#gone) void session.end()
    this.#session = session
    return JSON.stringify(session.opened)
  }

  async #answerFrame(frame: Uint8Array): Promise<Uint8Array> {
    const session = this.#session
    if (session === undefined) throw frameInvalid('a binary frame came before open')
    const startedMs = performance.now()
    const answer = await session.answer(frame)
    const seconds = (performance.now() - startedMs) / 1000
    this.#context.metrics.stepped(session.opened.name, 'vector', seconds, session.opened.environments)
    return answer
  }

  #refuse(error: unknown, request: number | null, socket: WSContext): void {
    const expected = error instanceof AgentGymError ? error : internal(error)
    this.#context.metrics.failed('vector', expected.code)
    const fatal = expected.code !== 'request_invalid' || this.#session === undefined
    const frame: ErrorFrame = { type: 'error', request, fatal, error: expected.toReport() }
    if (!this.#gone) socket.send(JSON.stringify(frame))
    if (!fatal) return
    this.close()
    socket.close(expected.code === 'capacity_reached' ? TRY_AGAIN_LATER : INTERNAL_ERROR, expected.code)
  }
}

function bytesOf(data: unknown): Uint8Array {
  if (data instanceof ArrayBuffer) return new Uint8Array(data)
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  throw frameInvalid('it is neither text nor binary')
}

function requestOf(data: unknown): number | null {
  if (typeof data === 'string') return null
  const bytes = bytesOf(data)
  return bytes.length < 8 ? null : new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true)
}

/** `@acme/cart-pole`, `acme/cart-pole` or `cart-pole`, with a range after `@` or without one. Throws `config_invalid`. */
function findEnvironment(environments: readonly ServedEnvironment[], target: string | undefined): ServedEnvironment {
  const [first] = environments
  if (target === undefined) return first
  const at = target.indexOf('@', 1)
  const name = at < 0 ? target : target.slice(0, at)
  const range = at < 0 ? '*' : target.slice(at + 1)
  const found = environments.find((each) => [each.package.name, each.package.name.slice(1), each.name].includes(name))
  const version = found?.package.version
  if (found !== undefined && (range === '*' || range === 'latest' || semver.satisfies(found.package.version, range)))
    return found
  const served = environments.map(({ package: { name, version } }) => `${name}@${version}`).join(', ')
  throw new AgentGymError({
    code: 'config_invalid',
    message:
      version === undefined
        ? `This server has no scenario ${JSON.stringify(target.slice(0, 200))}.`
        : `This server has ${found?.package.name}@${version}, which ${JSON.stringify(range.slice(0, 200))} does not include.`,
    hint: `It serves ${served}.`,
    data: { field: 'scenario' },
  })
}

function frameInvalid(what: string): AgentGymError {
  return new AgentGymError({ code: 'frame_invalid', message: `A frame of the vector protocol is malformed: ${what}.` })
}

function internal(cause: unknown): AgentGymError {
  console.error(cause)
  return new AgentGymError({ code: 'internal_error', message: 'The server failed; its log says why.' }, { cause })
}
