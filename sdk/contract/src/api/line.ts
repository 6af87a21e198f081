import type { z } from 'zod'

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
