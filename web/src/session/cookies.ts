/** Value of a cookie in a Cookie header, as it stands there. */
export function cookieIn(header: string, name: string): string | undefined {
  for (const cookie of header.split(';')) {
    const [key, ...rest] = cookie.trim().split('=')
    if (key === name) return rest.join('=')
  }
  return undefined
}
