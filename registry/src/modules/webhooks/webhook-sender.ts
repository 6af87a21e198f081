import { lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { AgentGymError } from '@agentgym/contract'
import { type AddressRules, checkAddress, publicLookup } from '@agentgym/contract/outbound'
import { Agent, request } from 'undici'

/** `status`: null if there was no response, and `error` says why. */
export type Sent = { status: number | null; error: string | null; retryAfterSeconds: number | null; durationMs: number }

type SenderOptions = {
  /** Origins that the operator allows wherever they are (AGENTGYM_WEBHOOK_ORIGINS). */
  allowed: readonly string[]
  timeoutMs?: number
  /** How names are resolved: the system's way, but in tests. */
  lookup?: LookupFunction
}

const refusal = {
  hint: 'Name a public https address. The operator of this server can allow others by their origin: AGENTGYM_WEBHOOK_ORIGINS.',
  field: 'url',
}
const mostResponseBytes = 64 * 1024

/**
 * Posts messages to addresses that users name. Sockets connect only to addresses that were checked, redirects are not
 * followed, and of the response only the status is used: a receiver can't make the server read or show anything else.
 */
export class WebhookSender {
  readonly #rules: AddressRules
  readonly #timeoutMs: number
  readonly #public: Agent
  readonly #trusted: Agent

  constructor({ allowed, timeoutMs = 15_000, lookup = systemLookup as LookupFunction }: SenderOptions) {
    this.#rules = { ...refusal, allowed: new Set(allowed) }
    this.#timeoutMs = timeoutMs
    const limits = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs, maxResponseSize: mostResponseBytes }
    this.#public = new Agent({ ...limits, connect: { lookup: publicLookup(lookup, refusal), timeout: timeoutMs } })
    this.#trusted = new Agent({ ...limits, connect: { timeout: timeoutMs } })
  }

  /** Throws `address_refused`. A name is checked again when it is resolved. */
  check(address: string): URL {
    return checkAddress(address, this.#rules)
  }

  /** Never rejects: a delivery that fails has a reason. */
  async send(address: string, body: string, headers: Record<string, string>): Promise<Sent> {
    const startedMs = performance.now()
    const durationMs = () => Math.round(performance.now() - startedMs)
    const timeout = AbortSignal.timeout(this.#timeoutMs)
    try {
      const url = this.check(address)
      const response = await request(url, {
        method: 'POST',
        dispatcher: this.#rules.allowed.has(url.origin) ? this.#trusted : this.#public,
        headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'AgentGym-Webhooks/1' },
        body,
        signal: timeout,
      })
      // Read to the end or to the limit, so that the connection can be used again; what it says is not kept.
      await response.body.dump({ limit: mostResponseBytes, signal: timeout }).catch(() => {})
      const { statusCode: status, headers: received } = response
      const retryAfter = Number(received['retry-after'])
      return {
        ...{ status, durationMs: durationMs() },
        error: status >= 300 && status < 400 ? 'Redirects are not followed.' : null,
        retryAfterSeconds: retryAfter > 0 ? retryAfter : null,
      }
    } catch (error) {
      const why = reasonOf(error, timeout.aborted, this.#timeoutMs)
      return { status: null, error: why, retryAfterSeconds: null, durationMs: durationMs() }
    }
  }

  close(): Promise<void> {
    return Promise.all([this.#public.destroy(), this.#trusted.destroy()]).then(() => {})
  }
}

function reasonOf(error: unknown, timedOut: boolean, timeoutMs: number): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  for (const found of [error, cause]) if (found instanceof AgentGymError) return found.message
  if (timedOut) return `No response within ${timeoutMs / 1_000} s.`
  const code = (cause as NodeJS.ErrnoException).code
  return code === undefined ? 'The connection failed.' : `The connection failed (${code}).`
}
