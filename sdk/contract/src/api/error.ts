import { z } from 'zod'
import { type ErrorCode, errorCatalogue } from '../error-catalogue.ts'

/** The body of every answer that is not a success. */
export const errorResponseSchema = z
  .object({
    error: z.object({
      code: z.enum(Object.keys(errorCatalogue) as [ErrorCode, ...ErrorCode[]]),
      /** What failed, where and why, in one sentence. */
      message: z.string(),
      /** How to mend it. */
      hint: z.string().optional(),
      /** Machine-readable details: `field`, `name`, `version`, `request_id`, … */
      data: z.record(z.string(), z.unknown()).optional(),
    }),
  })
  .meta({ id: 'Error' })
export type ErrorResponse = z.infer<typeof errorResponseSchema>
