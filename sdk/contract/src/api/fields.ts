import { z } from 'zod'

/** What people write on one line: no control characters, no halves of letters, which no database takes. */
export const line = (schema: z.ZodString) =>
  schema.refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), 'must not contain control characters')

/** The same in several lines. No marks that turn the direction of what follows, which would let a text speak for its page. */
export const lines = (schema: z.ZodString) =>
  schema.refine(
    (text) =>
      text.isWellFormed() && !/(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u.test(text.replaceAll('\r\n', '\n')),
    'must not contain control characters',
  )

/** Whom a request is for. */
export const accountField = line(z.string().max(100))
  .optional()
  .describe('Organisation that it is for; you yourself unless told.')

/** Of every list that comes in pages. */
export const pageFields = {
  limit: z.coerce.number().int().min(1).max(100).default(20),
  cursor: z.string().max(200).optional(),
}

/** Deeper than any space: what walks a value may do so by recursion. */
const deepest = 64

type JsonValue = z.core.util.JSONType

/**
 * Any JSON, nested at most 64 deep. `z.json()` itself walks by recursion, which a small hostile body overflows, and is endless
 * to whoever describes it.
 */
export const jsonValue = z
  .unknown()
  .refine(isJson, `must be JSON, nested at most ${deepest} deep`) as unknown as z.ZodType<JsonValue, JsonValue>

function isJson(value: unknown): boolean {
  const left: { value: unknown; depth: number }[] = [{ value, depth: 1 }]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value, depth } = next
    if (value === null || typeof value === 'string' || typeof value === 'boolean') continue
    if (typeof value === 'number' ? !Number.isFinite(value) : typeof value !== 'object' || depth > deepest) return false
    if (typeof value === 'object') for (const part of Object.values(value)) left.push({ value: part, depth: depth + 1 })
  }
  return true
}
