import type { CheckReport } from '@agentgym/contract'
import type { CommandContext } from '../command-context.ts'
import { resolveScenarioFolder } from '../targets/resolve-scenario.ts'
import { displayPath } from '../terminal/display-path.ts'
import { wrapText } from '../terminal/fit-text.ts'
import { safeText } from '../terminal/safe-text.ts'
import { shellQuote } from '../terminal/shell-quote.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** `agentgym scenario check`: every check as it finishes; exit 1 when one failed. */
export async function scenarioCheck(target: string, context: CommandContext): Promise<void> {
  const folder = await resolveScenarioFolder(target)
  const runtime = await context.runtime()
  context.say(`${context.terminal.symbols.next} Check the scenario in ${safeText(displayPath(folder))}`)
  const report = await runtime.checkScenario(folder, {
    onCheck: (check) => {
      for (const line of checkLines(check, context.terminal)) context.say(line)
    },
  })
  context.sayJson(report)
  for (const line of summaryLines(report, folder, context.terminal)) context.say(line)
  if (!report.ok) process.exitCode = 1
}

// The longest of the usual names; longer ones push their message to the right.
const nameWidth = 14

/** A check's lines: mark, name and message side by side; the message of a failed one says how to mend it. */
function checkLines(check: CheckReport['checks'][number], terminal: Terminal): string[] {
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

function summaryLines(report: CheckReport, folder: string, terminal: Terminal): string[] {
  const { paint, symbols } = terminal
  const name = paint.bold(safeText(`${report.name}@${report.version}`, 240))
  const failed = report.checks.filter((check) => !check.ok).length
  const path = shellQuote(displayPath(folder))
  if (report.ok) {
    return [
      `${paint.accent(symbols.ok)} ${name} passes ${report.checks.length} checks`,
      `${symbols.next} Train on it: ${paint.accent(`agentgym train ${path}`)}`,
    ]
  }
  return [
    `${paint.fail(symbols.failed)} ${name} fails ${failed} of ${report.checks.length} checks`,
    `${symbols.next} Mend what is marked ${symbols.failed} and check again: ${paint.accent(`agentgym scenario check ${path}`)}`,
  ]
}
