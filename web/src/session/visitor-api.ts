import { type Client, createClient } from '@agentgym/client'
import type { Visitor } from '../app/site-host.ts'
import type { PublicCache } from './public-cache.ts'

export type VisitorApiOptions = {
  publicUrl: string
  visitor: Visitor
  /** `name=value` of the session; null if anonymous. */
  session: string | null
  /** `name=value` of a known device; sent only with logins. */
  device: string | null
  cache: PublicCache
  /** Receives each Set-Cookie of the API, to forward to the browser. */
  setCookie(cookie: string): void
  /** Receives how long each response may be cached for others; 0 for not at all. */
  onTtl(ttlMs: number): void
}

/** The API as the visitor: with their session, but no other headers of their browser. */
export function visitorApi({
  publicUrl,
  visitor,
  session,
  device,
  cache,
  setCookie,
  onTtl,
}: VisitorApiOptions): Client {
  const call = async (request: Request) => {
    const response = await visitor.callApi(request)
    for (const cookie of response.headers.getSetCookie()) setCookie(cookie)
    return response
  }
  return createClient({
    server: publicUrl,
    fetch: (input, init) => {
      // Reuses the client's Request, because creating another costs as much as some responses.
      const request = input instanceof Request && init === undefined ? input : new Request(input, init)
      const logsIn = request.method === 'POST' && new URL(request.url).pathname === '/v1/sessions'
      const cookies = [session, logsIn ? device : null].filter((cookie) => cookie !== null)
      if (cookies.length > 0) request.headers.set('cookie', cookies.join('; '))
      // Requests without a body are also sent as JSON: the API requires this for writes with a session, because forms
      // of other sites cannot send it.
      if (request.method === 'POST' && !request.headers.has('content-type'))
        request.headers.set('content-type', 'application/json')
      // The cache knows addresses alone: what the secret of a link opens is for those who have it.
      const isPublic = session === null && !request.headers.has('agentgym-link')
      if (isPublic && request.method === 'GET') return cache.fetch(request, call, onTtl)
      onTtl(0)
      return call(request)
    },
  })
}
