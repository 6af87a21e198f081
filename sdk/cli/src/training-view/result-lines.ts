import type { Evaluation, ResultEvent } from '@agentgym/contract'
import { formatCount, formatDuration, formatTarget, formatValue } from '../terminal/format-figures.ts'
import { safeText } from '../terminal/safe-text.ts'
import { shellQuote } from '../terminal/shell-quote.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** What a finished run came to: one line of result, one a criterion where there are several, one of what to do next. */
export function resultLines(result: ResultEvent, terminal: Terminal): string[] {
  const { paint, symbols } = terminal
  const trained = `Trained ${formatCount(result.steps)} steps in ${formatDuration(result.seconds)}`
  return [
    `${verdictSymbol(result.evaluation, terminal)} ${trained}; ${verdict(result.evaluation)}`,
    ...criterionLines(result.evaluation, terminal),
    `${paint.dim('  Agent:')} ${paint.bold(safeText(result.agent))}`,
    `${symbols.next} Evaluate it again: ${paint.accent(`agentgym eval ${shellQuote(result.agent)}`)}`,
  ]
}

/** `return 500 ± 0 over 100 held-out episodes` and whether that is enough. */
export function verdict(evaluation: Evaluation): string {
  const spread = evaluation.return_std === null ? '' : ` (standard deviation ${formatValue(evaluation.return_std)})`
  const figures = `mean return ${formatValue(evaluation.return_mean)}${spread} over ${formatCount(evaluation.episodes)} held-out episodes`
  if (evaluation.success.ok === null) return `${figures}; the scenario sets no target`
  return `${figures}; ${evaluation.success.ok ? 'every target reached' : 'a target was missed'}`
}

export function verdictSymbol(evaluation: Evaluation, terminal: Terminal): string {
  const { paint, symbols } = terminal
  return evaluation.success.ok === false ? paint.warn(symbols.warning) : paint.accent(symbols.ok)
}

export function criterionLines(evaluation: Evaluation, terminal: Terminal): string[] {
  const { paint, symbols } = terminal
  return evaluation.success.criteria.map(({ metric, target, value, ok }) => {
    const mark = ok ? paint.accent(symbols.ok) : paint.fail(symbols.failed)
    const word = ok ? 'reached' : 'missed'
    return `  ${mark} ${safeText(metric, 60)} ${paint.bold(formatValue(value))} ${paint.dim(`(target ${formatTarget(target)}, ${word})`)}`
  })
}
