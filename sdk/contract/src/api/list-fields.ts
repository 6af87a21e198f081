import { z } from 'zod'
import { line } from './line.ts'

/** Whom a request is for. */
export const accountField = line(z.string().max(100))
  .optional()
  .describe('Organisation that it is for; you yourself unless told.')

/** Of every list that comes in pages. */
export const pageFields = {
  limit: z.coerce.number().int().min(1).max(100).default(20),
  cursor: z.string().max(200).optional(),
}
