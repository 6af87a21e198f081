/**
 * Whether a form came from a page of this site, by all that the browser says: each header that is there must be right.
 * Programs and old browsers say nothing; what holds against those is the form's token.
 */
export function isOwnOrigin(headers: Headers, publicUrl: string): boolean {
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin') return false
  const origin = headers.get('origin')
  if (origin === null) return true
  const theirs = URL.parse(origin)
  const ours = URL.parse(publicUrl)
  if (theirs === null || ours === null) return false
  // All names of this machine are one server.
  return theirs.origin === ours.origin || unnamed(theirs) === unnamed(ours)
}

function unnamed({ protocol, hostname, port }: URL): string {
  const local = hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]'
  return `${protocol}//${local ? 'localhost' : hostname}:${port}`
}

/**
 * A path of this site to go to, from what somebody sent: `/` where it is anything else. `//evil.example` and
 * `/\evil.example` are addresses of other hosts to a browser, and control characters in between are left out by it.
 */
export function localPath(text: string | null | undefined): string {
  const path = text ?? ''
  return path.length <= 600 && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path) ? path : '/'
}
