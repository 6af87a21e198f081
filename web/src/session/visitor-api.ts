import { type Client, createClient } from '@agentgym/client'
import type { Visitor } from '../app/site-host.ts'
import type { PublicCache } from './public-cache.ts'

export type VisitorApiOptions = {
  publicUrl: string
  visitor: Visitor
  /** `name=value` of the session; null for a stranger. */
  session: string | null
  /** `name=value` of a browser that has logged in before; sent with logins only. */
  device: string | null
  cache: PublicCache
  /** Takes each Set-Cookie of the API, to be handed on to the browser. */
  setCookie(cookie: string): void
  /** Receives for how long each answer may be shown to others; 0 where it may not. */
  onTtl(ttlMs: number): void
}

/** The API as the visitor: with their session and nothing else of what their browser sent. */
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
      // The client's own is used as it is: making another costs as much as some answers.
      const request = input instanceof Request && init === undefined ? input : new Request(input, init)
      const logsIn = request.method === 'POST' && new URL(request.url).pathname === '/v1/sessions'
      const cookies = [session, logsIn ? device : null].filter((cookie) => cookie !== null)
      if (cookies.length > 0) request.headers.set('cookie', cookies.join('; '))
      // What has no body is sent as JSON, too: the API takes a session's writes as nothing else, which no foreign form sends.
      if (request.method === 'POST' && !request.headers.has('content-type'))
        request.headers.set('content-type', 'application/json')
      if (session === null && request.method === 'GET') return cache.fetch(request, call, onTtl)
      onTtl(0)
      return call(request)
    },
  })
}
