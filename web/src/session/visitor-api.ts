import { type Client, createClient } from '@agentgym/client'
import type { Visitor } from '../app/site-host.ts'
import type { AnonymousAnswers } from './anonymous-answers.ts'

export type VisitorApiOptions = {
  publicUrl: string
  visitor: Visitor
  /** `name=value` of the session; null for a stranger. */
  session: string | null
  answers: AnonymousAnswers
  /** Takes each Set-Cookie of the API, to be handed on to the browser. */
  setCookie(cookie: string): void
  /** Takes of each answer until when strangers may be shown it again, of `performance.now()`; 0 where they may not. */
  heldUntil(untilMs: number): void
}

/** The API as the visitor: with their session and nothing else of what their browser sent. */
export function visitorApi({ publicUrl, visitor, session, answers, setCookie, heldUntil }: VisitorApiOptions): Client {
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
      if (session !== null) request.headers.set('cookie', session)
      // What has no body is sent as JSON, too: the API takes a session's writes as nothing else, which no foreign form sends.
      if (request.method === 'POST' && !request.headers.has('content-type'))
        request.headers.set('content-type', 'application/json')
      if (session === null && request.method === 'GET') return answers.fetch(request, call, heldUntil)
      heldUntil(0)
      return call(request)
    },
  })
}
