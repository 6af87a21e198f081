import type { CheckReport } from '@agentgym/contract'
import { wrapText } from './fit-text.ts'
import { safeText } from './safe-text.ts'
import type { Terminal } from './terminal.ts'

// The longest of the usual names; longer ones push their message to the right.
const nameWidth = 14

/** A check's lines: mark, name and message side by side; the message of a failed one says how to mend it. */
export function checkLines(check: CheckReport['checks'][number], terminal: Terminal): string[] {
  const { paint, symbols } = terminal
  const mark = check.ok ? paint.accent(symbols.ok) : paint.fail(symbols.failed)
  const name = safeText(check.id, 40)
  const indent = 6 + Math.max(nameWidth, name.length)
  const width = Math.max(20, Math.min(terminal.columns(), 110) - indent)
  const [first, ...rest] = check.message
    .split(/\r?\n/)
    .slice(0, 20)
    .flatMap((line) => wrapText(safeText(line, 2000), width))
  const style = check.ok ? paint.dim : (text: string) => text
  return [
    `  ${mark} ${paint.bold(name.padEnd(nameWidth))}  ${style(first)}`,
    ...rest.map((line) => ' '.repeat(indent) + style(line)),
  ]
}
