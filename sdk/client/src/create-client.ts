import openApiClient, { type Client as OpenApiClient } from 'openapi-fetch'
import type { paths } from './api-types.ts'
import { readFailure, unreachable } from './read-failure.ts'

export type ClientOptions = {
  /** Address of the server: `https://gym.example.com`. */
  server: string
  /** `agt_…`; without one the requests are a stranger's. */
  token?: string
  fetch?: typeof globalThis.fetch
}

/**
 * Every route of the API, typed by its description: `(await client.GET('/v1/account')).data`. A failure is thrown as the
 * AgentGymError that the server threw, or as `server_unreachable`; `error` is never set.
 */
export type Client = OpenApiClient<paths> & {
  readonly server: string
  /** A request beside the description: an absolute address or a path of the server. Failures are thrown alike. */
  send(address: string, init?: RequestInit): Promise<Response>
}

export function createClient({ server, token, fetch = globalThis.fetch }: ClientOptions): Client {
  const baseUrl = server.replace(/\/+$/, '')
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const checked: typeof globalThis.fetch = async (input, init) => {
    const response = await fetch(input, init).catch((error: unknown) => {
      const { signal } = input instanceof Request ? input : { signal: init?.signal }
      throw signal?.aborted ? error : unreachable(baseUrl, error)
    })
    if (!response.ok) throw await readFailure(response)
    return response
  }
  const client = openApiClient<paths>({ baseUrl, headers, fetch: checked })
  return Object.assign(client, {
    server: baseUrl,
    send: (address: string, init: RequestInit = {}) => {
      const url = new URL(address, `${baseUrl}/`)
      // The token is this server's alone, whatever address the server may have named.
      const own = url.origin === new URL(baseUrl).origin ? headers : {}
      return checked(url, { ...init, headers: { ...own, ...(init.headers as Record<string, string>) } })
    },
  })
}
