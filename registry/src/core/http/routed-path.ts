import { getPath } from 'hono/utils/url'

/**
 * The path as routes see it: `@scope%2fname`, `@scope%2Fname` and `%40scope%2Fname`, as clients write a package's name,
 * become `@scope/name`. Decoded once only: `%252f` stays unchanged, and matches nothing.
 */
export function routedPath(request: Request): string {
  return getPath(request)
    .replace(/^(\/(?:v1\/packages|npm|packages)\/(?:@|%40)[^/%]+)%2f/i, '$1/')
    .replace('/%40', '/@')
}
