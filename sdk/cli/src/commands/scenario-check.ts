import type { CheckReport } from '@agentgym/contract'
import type { CommandContext } from '../command-context.ts'
import { resolveScenarioFolder } from '../targets/resolve-scenario.ts'
import { checkLines } from '../terminal/check-lines.ts'
import { safeText } from '../terminal/safe-text.ts'
import { shellQuote } from '../terminal/shell-quote.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** `agentgym scenario check`: every check as it finishes; exit 1 when one failed. */
export async function scenarioCheck(target: string, context: CommandContext): Promise<void> {
  const folder = await resolveScenarioFolder(target, context)
  const runtime = await context.runtime()
  context.say(`${context.terminal.symbols.next} Check the scenario in ${safeText(context.displayPath(folder))}`)
  const report = await runtime.checkScenario(folder, {
    onCheck: (check) => {
      for (const line of checkLines(check, context.terminal)) context.say(line)
    },
  })
  context.sayJson(report)
  for (const line of summaryLines(report, shellQuote(context.displayPath(folder)), context.terminal)) context.say(line)
  if (!report.ok) context.exitCode = 1
}

function summaryLines(report: CheckReport, path: string, terminal: Terminal): string[] {
  const { paint, symbols } = terminal
  const name = paint.bold(safeText(`${report.name}@${report.version}`, 240))
  const failed = report.checks.filter((check) => !check.ok).length
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
