/**
 * A path of this site to go to, from what somebody sent: `/` where it is anything else. `//evil.example` and
 * `/\evil.example` are addresses of other hosts to a browser, and control characters in between are left out by it.
 */
export function localPath(text: string | null | undefined): string {
  const path = text ?? ''
  return path.length <= 600 && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path) ? path : '/'
}
