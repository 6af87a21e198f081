import { z } from 'zod'
import { type ErrorCode, errorCatalogue } from '../error-catalogue.ts'

const codes = Object.keys(errorCatalogue) as [ErrorCode, ...ErrorCode[]]

/** An error as data. */
export const errorReportSchema = z.object({
  code: z.enum(codes),
  /** What failed, where and why, in one sentence. */
  message: z.string().max(4_000),
  /** How to mend it. */
  hint: z.string().max(4_000).optional(),
  /** Machine-readable details: `field`, `name`, `version`, `request_id`, … */
  data: z.record(z.string(), z.unknown()).optional(),
})

/** The body of every answer that is not a success. */
export const errorResponseSchema = z.object({ error: errorReportSchema }).meta({ id: 'Error' })
export type ErrorResponse = z.infer<typeof errorResponseSchema>
