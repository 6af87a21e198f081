import { lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { AgentGymError } from '@agentgym/contract'
import { type AddressRules, checkAddress, publicLookup, refusedAddress } from '@agentgym/contract/outbound'
import { Agent, request } from 'undici'

export type OutboundLimits = {
  /** For the whole request. */
  timeoutMs: number
  /** Of the response's body. */
  mostBytes: number
}

export type OutboundOptions = {
  /** Origins, such as `http://127.0.0.1:8000`, that the operator allows wherever they are. */
  allowed: readonly string[]
  limits?: OutboundLimits
  /** How names are resolved: the system's way, but in tests. */
  lookup?: LookupFunction
}

export type OutboundResponse = { status: number; text: string; retryAfter: string | null }

const defaultLimits: OutboundLimits = { timeoutMs: 120_000, mostBytes: 8 * 2 ** 20 }

const refusal = {
  hint: 'Name a public https address. The operator of this server can allow others by their origin: --allow-model URL.',
  field: 'base_url',
}

/**
 * Calls addresses that clients name. Only public hosts over HTTPS are called, and those that the operator allows: every address
 * that a name stands for is looked at, and the socket connects to one that was, so an answer of DNS that changes in between
 * changes nothing. Redirects are not followed. No proxy of the environment is used, and nothing of ours is sent.
 */
export class OutboundClient {
  readonly #rules: AddressRules
  readonly #limits: OutboundLimits
  readonly #public: Agent
  readonly #trusted: Agent

  constructor({ allowed, limits = defaultLimits, lookup = systemLookup as LookupFunction }: OutboundOptions) {
    this.#rules = { ...refusal, allowed: new Set(allowed.map((address) => new URL(address).origin)) }
    this.#limits = limits
    const timeouts = {
      headersTimeout: limits.timeoutMs,
      bodyTimeout: limits.timeoutMs,
      maxResponseSize: limits.mostBytes,
    }
    this.#public = new Agent({ ...timeouts, connect: { lookup: publicLookup(lookup, refusal), timeout: 10_000 } })
    this.#trusted = new Agent({ ...timeouts, connect: { timeout: 10_000 } })
  }

  /** Throws `address_refused` for an address that may not be called. A name is checked again when it is resolved. */
  check(address: string): URL {
    return checkAddress(address, this.#rules)
  }

  /** Posts JSON. Rejects with `address_refused`, or `language_model_unreachable`, `language_model_timeout` and `language_model_failed`. */
  async post(
    address: string,
    body: unknown,
    { key, signal }: { key?: string; signal?: AbortSignal } = {},
  ): Promise<OutboundResponse> {
    const url = this.check(address)
    const { timeoutMs } = this.#limits
    const timeout = AbortSignal.timeout(timeoutMs)
    try {
      const response = await request(url, {
        method: 'POST',
        dispatcher: this.#rules.allowed.has(url.origin) ? this.#trusted : this.#public,
        // Compressed answers may be small and become large.
        headers: {
          'content-type': 'application/json',
          'accept-encoding': 'identity',
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        },
        body: JSON.stringify(body),
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      })
      const { statusCode, headers } = response
      const text = await response.body.text()
      if (statusCode >= 300 && statusCode < 400)
        throw refusedAddress(url.origin, 'it redirects, which is not followed', refusal)
      if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity') {
        throw failed(
          'language_model_failed',
          url.origin,
          'its answer is compressed, though it was asked for a plain one',
        )
      }
      const retryAfter = headers['retry-after']
      return { status: statusCode, text, retryAfter: typeof retryAfter === 'string' ? retryAfter : null }
    } catch (error) {
      if (error instanceof AgentGymError) throw error
      const cause = error instanceof Error && error.cause instanceof AgentGymError ? error.cause : error
      if (cause instanceof AgentGymError) throw cause
      if (timeout.aborted)
        throw failed('language_model_timeout', url.origin, `no answer within ${timeoutMs / 1_000} s`, error)
      throw isTooLarge(error)
        ? failed('language_model_failed', url.origin, 'its answer is too large', error)
        : failed('language_model_unreachable', url.origin, reasonOf(error), error)
    }
  }

  close(): Promise<void> {
    return Promise.all([this.#public.close(), this.#trusted.close()]).then(() => {})
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code ?? ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code
}

function isTooLarge(error: unknown): boolean {
  return codeOf(error) === 'UND_ERR_RES_EXCEEDED_MAX_SIZE'
}

function reasonOf(error: unknown): string {
  const code = codeOf(error)
  return code === undefined ? 'the connection failed' : `the connection failed (${code})`
}

type Failure = 'language_model_failed' | 'language_model_timeout' | 'language_model_unreachable'

function failed(code: Failure, origin: string, why: string, cause?: unknown): AgentGymError {
  return new AgentGymError(
    {
      code,
      message: `The language model at ${origin} did not answer: ${why}.`,
      hint: 'The rollouts of this request that have no result are errors, not zeros. Send their ids again.',
      data: { base_url: origin },
    },
    { cause },
  )
}
