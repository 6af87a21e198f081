import { AgentGymError } from '@agentgym/contract'

type WriteRequest = {
  method: string
  header(name: string): string | undefined
}

/** No form can send these, and a script of another origin only after a preflight, which nothing here answers. */
const guardedTypes = new Set(['application/json', 'application/octet-stream'])

/**
 * Refuses (`forbidden`) a write that a page of another origin may have caused, for requests that bring no token. What
 * the browser says about the origin must be right in every header that it sends, not in one of them; programs send none,
 * so a request that carries a session cookie must also be of a content type that no form can send; but for a page's own
 * form (`form`), whose hidden token its handler checks.
 */
export function refuseCrossSiteWrite(
  request: WriteRequest,
  publicUrl: string,
  { cookie, form }: { cookie: boolean; form: boolean },
): void {
  if (request.method === 'GET' || request.method === 'HEAD' || request.method === 'OPTIONS') return
  const site = request.header('sec-fetch-site')
  const origin = request.header('origin')
  if (site !== undefined && site !== 'same-origin') throw crossSite(publicUrl)
  if (origin !== undefined && !isSameOrigin(origin, publicUrl)) throw crossSite(publicUrl)
  if (!cookie || form) return
  const type = request.header('content-type')?.split(';')[0].trim().toLowerCase()
  // PUT, PATCH and DELETE need a preflight by themselves; a POST without a body does not.
  if (type === undefined ? request.method === 'POST' : !guardedTypes.has(type))
    throw new AgentGymError({
      code: 'forbidden',
      message: 'A write with a session cookie needs the content type application/json.',
      hint: 'Send `content-type: application/json`, or use a token instead of the cookie.',
    })
}

/** Also true between names of this machine, where the site is reached at one of them: they are one server. */
function isSameOrigin(origin: string, publicUrl: string): boolean {
  if (!URL.canParse(origin)) return false
  const [theirs, ours] = [new URL(origin), new URL(publicUrl)]
  if (theirs.origin === ours.origin) return true
  return (
    loopback.has(theirs.hostname) &&
    loopback.has(ours.hostname) &&
    theirs.port === ours.port &&
    theirs.protocol === ours.protocol
  )
}
const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

function crossSite(publicUrl: string): AgentGymError {
  return new AgentGymError({
    code: 'forbidden',
    message: 'This request comes from a page of another site.',
    hint: `Use the site at ${publicUrl}; that is the address that AgentGym was told it has.`,
  })
}
