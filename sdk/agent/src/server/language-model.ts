import { AgentGymError } from '@agentgym/contract'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import { z } from 'zod'

/** The language model beside the agents: any server that speaks OpenAI's API. */
export type LanguageModelOptions = {
  /** Its address, up to what stands before `/chat/completions` and `/responses`. */
  baseUrl: string
  /** What it calls the model. */
  model: string
  /** Sent as a bearer token. */
  key?: string
  /** How long it may be silent, in milliseconds: until its answer, and between events of a stream. Default: 120,000. */
  timeoutMs?: number
}

const upstreamErrorSchema = z.looseObject({
  error: z.union([z.string(), z.looseObject({ message: z.string(), code: z.unknown().optional() })]),
})

export type Asked = { path: string; body: object; signal: AbortSignal }

/** Asks the server of a language model. Throws `language_model_failed`, `language_model_unreachable`, `language_model_timeout`. */
export class LanguageModel {
  /** What its server calls it. */
  readonly name: string
  readonly #base: string
  readonly #key: string | undefined
  readonly #timeoutMs: number

  /** Throws `config_invalid` for an address that is none. */
  constructor({ baseUrl, model, key, timeoutMs = 120_000 }: LanguageModelOptions) {
    this.name = model
    this.#base = readBaseUrl(baseUrl)
    this.#key = key
    this.#timeoutMs = timeoutMs
  }

  /** The answer as JSON. */
  async answer(asked: Asked): Promise<unknown> {
    const silence = new Silence(this.#timeoutMs, asked.signal)
    try {
      const response = await this.#ask(asked, silence)
      return await response.json().catch((cause) => {
        throw silence.isOver ? cause : failed(502, 'answered something that is not JSON', { cause })
      })
    } catch (error) {
      throw this.#asFailure(error, silence)
    } finally {
      silence.end()
    }
  }

  /** The data of each event, until the stream ends or `[DONE]`. Resolves once the server has begun to answer. */
  async events(asked: Asked): Promise<AsyncGenerator<Record<string, unknown>>> {
    const silence = new Silence(this.#timeoutMs, asked.signal)
    try {
      const response = await this.#ask({ ...asked, body: { ...asked.body, stream: true } }, silence)
      const type = response.headers.get('content-type') ?? ''
      if (response.body === null || !type.startsWith('text/event-stream'))
        throw failed(502, `answered ${type || 'nothing'} where a stream of events was requested`)
      return this.#read(response.body, silence)
    } catch (error) {
      silence.end()
      throw this.#asFailure(error, silence)
    }
  }

  async *#read(body: ReadableStream<Uint8Array>, silence: Silence): AsyncGenerator<Record<string, unknown>> {
    const events = body
      .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
      .pipeThrough(new EventSourceParserStream())
    try {
      for await (const { data } of events) {
        silence.isBroken()
        if (data === '[DONE]') return
        yield readEvent(data)
      }
    } catch (error) {
      throw this.#asFailure(error, silence)
    } finally {
      // A caller that reads no further must not leave the server writing.
      silence.end()
    }
  }

  async #ask({ path, body }: Asked, silence: Silence): Promise<Response> {
    const response = await fetch(`${this.#base}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(this.#key !== undefined && { authorization: `Bearer ${this.#key}` }),
      },
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: silence.signal,
    })
    if (response.ok) return response
    throw await refusal(response)
  }

  #asFailure(error: unknown, silence: Silence): unknown {
    if (error instanceof AgentGymError) return error
    if (silence.isOver) {
      const seconds = this.#timeoutMs / 1_000
      return new AgentGymError({
        code: 'language_model_timeout',
        message: `The language model's server at ${this.#base} was silent for ${seconds} s.`,
        hint: 'Allow more with --llm-timeout.',
      })
    }
    if (silence.hasCallerGone) return failed(499, 'was asked by a client that has gone', { cause: error })
    const { cause, message } = error as Error
    return new AgentGymError(
      {
        code: 'language_model_unreachable',
        message: `The language model's server at ${this.#base} did not answer: ${(cause as Error | undefined)?.message || message}.`,
        hint: 'Check that it runs, and the address in --llm-base-url.',
      },
      { cause: error },
    )
  }
}

/** Ends a request whose server says nothing for too long, or whose caller has gone. */
class Silence {
  readonly signal: AbortSignal
  readonly #controller = new AbortController()
  readonly #timer: NodeJS.Timeout
  readonly #caller: AbortSignal
  isOver = false

  constructor(timeoutMs: number, caller: AbortSignal) {
    this.#caller = caller
    this.signal = AbortSignal.any([caller, this.#controller.signal])
    this.#timer = setTimeout(() => {
      this.isOver = true
      this.#controller.abort()
    }, timeoutMs)
  }

  get hasCallerGone(): boolean {
    return this.#caller.aborted
  }

  isBroken(): void {
    this.#timer.refresh()
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#controller.abort()
  }
}

function readEvent(data: string): Record<string, unknown> {
  let event: unknown
  try {
    event = JSON.parse(data)
  } catch (cause) {
    throw failed(502, 'sent an event that is not JSON', { cause })
  }
  const said = upstreamErrorSchema.safeParse(event)
  if (said.success) throw failed(502, `stopped: ${messageOf(said.data)}`)
  return Object(event)
}

/** What the server refuses with: its status and message, as they are. */
async function refusal(response: Response): Promise<AgentGymError> {
  const { status } = response
  const text = (await response.text()).slice(0, 10_000)
  let message = text.trim() || response.statusText || 'no message'
  let code: unknown
  try {
    const said = upstreamErrorSchema.parse(JSON.parse(text))
    message = messageOf(said)
    code = typeof said.error === 'object' ? said.error.code : undefined
  } catch {
    // A proxy's page, or a server that words errors in a way of its own.
  }
  const hint = status === 404 ? 'Addresses of such servers mostly end with /v1.' : undefined
  const retry_after = response.headers.get('retry-after')
  return failed(status >= 400 ? status : 502, `answered ${status}: ${message}`, {
    hint,
    data: { ...(typeof code === 'string' && { upstream_code: code }), ...(retry_after !== null && { retry_after }) },
  })
}

function messageOf({ error }: z.infer<typeof upstreamErrorSchema>): string {
  return typeof error === 'string' ? error : error.message
}

type FailureDetails = { hint?: string; data?: object; cause?: unknown }

export function failed(status: number, what: string, { hint, data, cause }: FailureDetails = {}): AgentGymError {
  return new AgentGymError(
    {
      code: 'language_model_failed',
      message: `The language model's server ${what}${/[.!?]$/.test(what) ? '' : '.'}`,
      hint,
      data: { status, ...data },
    },
    { cause },
  )
}

function readBaseUrl(text: string): string {
  const url = URL.parse(text)
  const wrong =
    url === null || !['http:', 'https:'].includes(url.protocol)
      ? 'is no address of http or https'
      : url.username !== '' || url.password !== ''
        ? 'contains a password, which belongs in AGENTGYM_LLM_KEY'
        : url.search !== '' || url.hash !== ''
          ? 'has a query or a fragment'
          : undefined
  if (url !== null && wrong === undefined) return url.href.replace(/\/+$/, '')
  throw new AgentGymError({
    code: 'config_invalid',
    message: `--llm-base-url ${wrong}.`,
    hint: 'Give the address that an OpenAI client would get, such as http://127.0.0.1:11434/v1.',
    data: { field: 'llm-base-url' },
  })
}
