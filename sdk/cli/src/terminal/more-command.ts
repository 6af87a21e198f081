import { shellQuote } from './shell-quote.ts'

/** What is typed for the next page of a list: the same command with its filters, and the cursor. */
export function moreCommand(
  command: string,
  filters: Record<string, string | number | boolean | undefined>,
  cursor: string,
): string {
  const entries: [string, string | number | boolean | undefined][] = Object.entries({ ...filters, cursor })
  const words = entries.flatMap(([name, value]) => {
    if (value === undefined || value === false) return []
    return value === true ? [`--${name}`] : [`--${name}`, shellQuote(String(value))]
  })
  return [command, ...words].join(' ')
}
