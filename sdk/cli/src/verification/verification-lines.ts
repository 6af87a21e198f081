import { type Verification, type VerificationStatement, verificationStatementSchema } from '@agentgym/contract'
import { wrapText } from '../terminal/fit-text.ts'
import { formatCount, formatValue } from '../terminal/format-figures.ts'
import { safeText } from '../terminal/safe-text.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** The seal and what it says: who ran the agent, on what, and what came out; or why there is none. */
export function verificationLines(verification: Verification, terminal: Terminal): string[] {
  const { paint, symbols } = terminal
  const width = Math.min(terminal.columns(), 100) - 3
  const told = (mark: string, text: string) =>
    wrapText(safeText(text, 1_000), width).map((line, index) => (index === 0 ? `${mark} ${line}` : `  ${line}`))
  const why = verification.message === null ? '' : `: ${verification.message}`
  switch (verification.state) {
    case 'verified':
      return sealLines(verification, terminal)
    case 'pending':
      return told(symbols.dot, 'Not verified yet: a worker is at it')
    case 'unavailable':
      return told(paint.warn(symbols.warning), `Not verified${why}`)
    case 'mismatch':
    case 'failed':
      return told(paint.fail(symbols.failed), `Not verified${why}`)
  }
}

function sealLines({ signed }: Verification, { paint, symbols }: Terminal): string[] {
  const statement = signed === null ? undefined : parseStatement(signed.statement)
  if (signed === null || statement === undefined) return [`${paint.accent(symbols.ok)} Verified`]
  const seal = paint.accent(`${symbols.ok} Verified ${signed.signature.slice(0, 8)}`)
  const { held_out: heldOut, server, scenario } = statement
  return [
    `${seal} ${paint.dim(`by ${safeText(server, 100)} on ${statement.verified_at.slice(0, 10)}`)}`,
    `  return ${paint.bold(formatValue(heldOut.return_mean))} on ${formatCount(heldOut.episodes)} held-out episodes of ${safeText(`${scenario.name}@${scenario.version}`, 240)}`,
  ]
}

/** A statement as it was signed; undefined for what is none. */
function parseStatement(text: string): VerificationStatement | undefined {
  try {
    return verificationStatementSchema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
