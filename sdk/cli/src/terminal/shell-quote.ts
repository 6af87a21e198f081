import { safeText } from './safe-text.ts'

/** An argument as a user may paste it into a POSIX shell. Control characters become visible escapes. */
export function shellQuote(argument: string): string {
  const text = safeText(argument, 4096)
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(text)) return text
  return `'${text.replaceAll("'", "'\\''")}'`
}
