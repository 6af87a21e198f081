import type { MiddlewareHandler } from 'hono'
import type { StatusCode } from 'hono/utils/http-status'
import type { Env } from './env.ts'

/** Where an answer's JSON waits for the site that asked. */
export type HandedOver = { text?: string }

/**
 * Answers to the site of this process leave their JSON as the text that it was written as, and have no body: a body is
 * encoded, made a stream, gathered and decoded, which costs as much as reading the JSON does.
 */
export function handOverJson(): MiddlewareHandler<Env> {
  return async (c, next) => {
    const siteCall = c.env?.siteCall
    if (siteCall !== undefined) {
      const respond: (data: null, status?: StatusCode, headers?: Record<string, string>) => Response = c.body
      const handOver = (value: unknown, status?: StatusCode, headers?: Record<string, string>) => {
        siteCall.handedOver.text = JSON.stringify(value)
        return respond(null, status, { 'content-type': 'application/json', ...headers })
      }
      // Routes see the type of what they give; here it is any of them.
      c.json = handOver as unknown as typeof c.json
    }
    await next()
  }
}

/** `response` as if what was handed over beside it were its body. */
export function takeHandedOver(response: Response, { text }: HandedOver): Response {
  if (text === undefined || response.body !== null) return response
  return Object.defineProperties(response, {
    text: { value: async () => text },
    json: { value: async () => JSON.parse(text) },
  })
}
