import assert from 'node:assert'

/** PostgreSQL type numbers (pg_type.oid) whose values need a parser of ours. */
const oid = { int8: 20, int8Array: 1016, date: 1082, dateArray: 1182, interval: 1186 } as const

/**
 * int8 as a JavaScript number. Amounts and counts here are far below 2^53; a larger one must never be rounded silently.
 */
function parseSafeInteger(text: string): number {
  const value = Number(text)
  assert(Number.isSafeInteger(value), `bigint ${text} does not fit into a JavaScript number`)
  return value
}

/** `2026-11-28`: a day has no time zone, so it stays text and is not a Date. */
const asText = (text: string) => text

/**
 * For scalars, by type number: both drivers accept these. Each driver handles arrays its own way: see
 * `arrayElementOids`.
 */
export const valueParsers: Record<number, (text: string) => unknown> = {
  [oid.int8]: parseSafeInteger,
  [oid.date]: asText,
  [oid.interval]: asText,
}

/** Array types of the above: array type number to element type number. */
export const arrayElementOids: Record<number, number> = { [oid.int8Array]: oid.int8, [oid.dateArray]: oid.date }
