import type { MiddlewareHandler } from 'hono'
import type { ServerConfig } from '../services.ts'
import type { Env } from './env.ts'

/** What our pages need: their own stylesheet, fonts and pictures, and forms that come back to us. No script. */
const pagePolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Data is no document: a browser that shows it may load nothing and run nothing. */
const dataPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox"

/** Headers on every answer. A route that sets one of them itself keeps its own. */
export function securityHeaders({ secure }: Pick<ServerConfig, 'secure'>): MiddlewareHandler<Env> {
  const fixed: [name: string, value: string][] = [
    ['x-content-type-options', 'nosniff'],
    ['referrer-policy', 'strict-origin-when-cross-origin'],
    ['cross-origin-opener-policy', 'same-origin'],
    ['cross-origin-resource-policy', 'same-origin'],
    ['x-frame-options', 'DENY'],
    ...(secure ? [['strict-transport-security', 'max-age=31536000; includeSubDomains'] as [string, string]] : []),
  ]
  return async (c, next) => {
    await next()
    // Read by the site of this process, which is no browser; the page that it makes of it comes by here itself.
    if (c.env?.siteCall !== undefined) return
    const { headers } = c.res
    for (const [name, value] of fixed) if (!headers.has(name)) headers.set(name, value)
    const isPage = headers.get('content-type')?.startsWith('text/html') ?? false
    if (!headers.has('content-security-policy'))
      headers.set('content-security-policy', isPage ? pagePolicy : dataPolicy)
    // Answers depend on who asks: nobody keeps them unless the route says so.
    if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
  }
}
