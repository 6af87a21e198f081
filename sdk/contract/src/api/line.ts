import type { z } from 'zod'

/** What people write on one line: no control characters, no halves of letters, which no database takes. */
export const line = (schema: z.ZodString) =>
  schema.refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), 'must not contain control characters')
