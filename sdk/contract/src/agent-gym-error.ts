import { z } from 'zod'
import { type ErrorCode, errorCatalog } from './error-catalog.ts'

const codes = Object.keys(errorCatalog) as [ErrorCode, ...ErrorCode[]]

/** An error as data: in a response, in a JSON line, between processes. */
export const errorReportSchema = z.object({
  code: z.enum(codes),
  /** What failed, where (name, version, environment, step, field) and why, in one sentence. */
  message: z.string().max(4_000),
  /** How to fix it. */
  hint: z.string().max(4_000).optional(),
  /** Machine-readable details: `scenario`, `version`, `phase`, `environment`, `step`, `field`, `request_id`, … */
  data: z.record(z.string(), z.unknown()).optional(),
})
export type ErrorReport = z.infer<typeof errorReportSchema>

/** The body of every response that is not a success. */
export const errorResponseSchema = z.object({ error: errorReportSchema }).meta({ id: 'Error' })
export type ErrorResponse = z.infer<typeof errorResponseSchema>

/** An expected failure, with a code of the catalog. Bugs are assertions instead. */
export class AgentGymError extends Error {
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly data: Record<string, unknown>

  constructor(report: ErrorReport, options?: { cause?: unknown }) {
    super(report.message, options)
    this.name = 'AgentGymError'
    this.code = report.code
    this.hint = report.hint
    this.data = report.data ?? {}
  }

  /** Exit status of the CLI: 1 the work failed, 2 wrong use or invalid input. Trouble of a server is no wrong use. */
  get exit(): 1 | 2 {
    const { status } = this.data
    if (typeof status === 'number' && status >= 500) return 1
    return errorCatalog[this.code].exit
  }

  toReport(): ErrorReport {
    const report: ErrorReport = { code: this.code, message: this.message }
    if (this.hint !== undefined) report.hint = this.hint
    if (Object.keys(this.data).length > 0) report.data = this.data
    return report
  }
}
