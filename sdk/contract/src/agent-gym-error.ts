import { type ErrorCode, errorCatalogue } from './error-catalogue.ts'

/** An error as data: what crosses a process, a wire or a JSON line. */
export type ErrorReport = {
  code: ErrorCode
  /** What failed, where (name, version, environment, step, field) and why, in one sentence. */
  message: string
  /** How to mend it. */
  hint?: string
  /** Machine-readable details: `scenario`, `version`, `phase`, `environment`, `step`, `field`, … */
  data?: Record<string, unknown>
}

/** A failure that can be expected; bugs are assertions instead. Carries a code of the catalogue. */
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

  /** Exit status of the CLI: 1 the work failed, 2 wrong use or invalid input. */
  get exit(): 1 | 2 {
    return errorCatalogue[this.code].exit
  }

  toReport(): ErrorReport {
    const report: ErrorReport = { code: this.code, message: this.message }
    if (this.hint !== undefined) report.hint = this.hint
    if (Object.keys(this.data).length > 0) report.data = this.data
    return report
  }
}
