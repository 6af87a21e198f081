import { AgentGymError } from '@agentgym/contract'
import type { Dispatcher } from 'undici'
import type { z } from 'zod'
import type { ProviderName } from './compute-provider.ts'

export type ProviderAddress = {
  provider: ProviderName
  /** As users name it: `RunPod`. */
  title: string
  url: string
  headers: Readonly<Record<string, string>>
  /** For a certificate authority or a client certificate; otherwise the process's, which knows its proxies. */
  dispatcher?: Dispatcher | undefined
}

export type ProviderAnswer = { status: number; body: unknown }

const timeoutMs = 30_000
const mostBytes = 16 * 2 ** 20

/**
 * Requests to one provider, at the address and with the credentials that the user has configured. Redirects are not
 * followed, so a token goes nowhere else; answers are limited in size and time. Error messages never hold a token.
 */
export class ProviderClient {
  readonly #address: ProviderAddress

  constructor(address: ProviderAddress) {
    requireAddress(address)
    this.#address = address
  }

  /** Resolves to answers below 500. Throws `compute_unreachable` if there is none: what was asked may have been done. */
  async send(method: 'GET' | 'POST' | 'DELETE', path: string, json?: unknown): Promise<ProviderAnswer> {
    const { url, headers, dispatcher } = this.#address
    // Here, because every training loads this file, and few rent.
    const { request } = await import('undici')
    try {
      const response = await request(`${url.replace(/\/+$/, '')}${path}`, {
        method,
        headers: {
          accept: 'application/json',
          'accept-encoding': 'identity',
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        body: json === undefined ? null : JSON.stringify(json),
        signal: AbortSignal.timeout(timeoutMs),
        ...(dispatcher === undefined ? {} : { dispatcher }),
      })
      const body = parsed(await readLimited(response.body))
      if (response.statusCode >= 500 || response.statusCode === 429)
        throw this.#failure('compute_unreachable', `answered ${response.statusCode}${detailOf(body)}`)
      return { status: response.statusCode, body }
    } catch (error) {
      if (error instanceof AgentGymError) throw error
      throw this.#failure('compute_unreachable', `did not answer (${reasonOf(error)})`, error)
    }
  }

  /** Like `send`, for requests that must succeed; the answer is validated. Throws `compute_refused` for other statuses. */
  async ask<Schema extends z.ZodType>(
    schema: Schema,
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    json?: unknown,
  ): Promise<z.infer<Schema>> {
    const answer = await this.send(method, path, json)
    if (answer.status >= 300) throw this.refusal(answer)
    const read = schema.safeParse(answer.body)
    if (read.success) return read.data
    throw this.#failure('compute_unreachable', `gave an answer to ${method} ${path} that is not its API's`, read.error)
  }

  refusal({ status, body }: ProviderAnswer, code: 'compute_refused' | 'gpu_unavailable' = 'compute_refused') {
    const credentials = status === 401 || status === 403 ? 'Check the credentials and what they may do.' : undefined
    return this.#failure(code, `answered ${status}${detailOf(body)}`, undefined, credentials)
  }

  #failure(
    code: 'compute_unreachable' | 'compute_refused' | 'gpu_unavailable',
    what: string,
    cause?: unknown,
    hint?: string,
  ): AgentGymError {
    const { provider, title, url } = this.#address
    return new AgentGymError(
      {
        code,
        message: `${title} ${what}`,
        ...(hint === undefined ? {} : { hint }),
        data: { provider, address: URL.parse(url)?.origin ?? url },
      },
      { cause },
    )
  }
}

function requireAddress({ provider, title, url }: ProviderAddress): void {
  const parsed = URL.parse(url)
  if (parsed !== null && ['http:', 'https:'].includes(parsed.protocol) && parsed.username === '') return
  throw new AgentGymError({
    code: 'config_invalid',
    message: `The address of ${title} is ${JSON.stringify(url.slice(0, 200))}, which is not an http or https address`,
    hint: `Correct it where ${title} is configured.`,
    data: { field: 'url', provider },
  })
}

async function readLimited(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > mostBytes) throw new Error('the answer is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function reasonOf(error: unknown): string {
  const { code, name, message } = error as NodeJS.ErrnoException
  return code ?? (name === 'TimeoutError' ? `no answer within ${timeoutMs / 1_000} s` : message)
}

/** What the provider says: RFC 9457 of RunPod, a list of details of dstack, a Status of Kubernetes. */
function detailOf(body: unknown): string {
  if (typeof body !== 'object' || body === null) return ''
  const { detail, message, errors } = body as Record<string, unknown>
  const details = Array.isArray(detail)
    ? detail.map((one) => (one as { msg?: unknown } | null)?.msg)
    : [detail, message]
  const said = [...details, ...(Array.isArray(errors) ? errors : [])].filter((one) => typeof one === 'string')
  return said.length === 0 ? '' : `: ${said.join('; ').slice(0, 500)}`
}
