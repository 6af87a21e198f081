/**
 * Whether a form came from a page of this site, by the browser's headers: each one that is present must match. Programs
 * and old browsers send none; for them the form's token is the protection.
 */
export function isOwnOrigin(headers: Headers, publicUrl: string): boolean {
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin') return false
  const origin = headers.get('origin')
  if (origin === null) return true
  const theirs = URL.parse(origin)
  const ours = URL.parse(publicUrl)
  if (theirs === null || ours === null) return false
  // All local names are the same server.
  return theirs.origin === ours.origin || unnamed(theirs) === unnamed(ours)
}

function unnamed({ protocol, hostname, port }: URL): string {
  const local = hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]'
  return `${protocol}//${local ? 'localhost' : hostname}:${port}`
}

/**
 * A safe redirect path from untrusted input: `/` for anything else. Browsers treat `//evil.example` and
 * `/\evil.example` as other hosts, and ignore control characters in between.
 */
export function localPath(text: string | null | undefined): string {
  const path = text ?? ''
  return path.length <= 600 && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path) ? path : '/'
}
