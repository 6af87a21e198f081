/**
 * Whether the client already has the response with this entity tag. Compares weakly, as RFC 9110 requires for
 * `If-None-Match`: proxies that compress a response make its tag weak.
 */
export function isKnownTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  const opaque = (text: string) => text.trim().replace(/^W\//, '')
  return ifNoneMatch.split(',').some((candidate) => opaque(candidate) === opaque(tag))
}
