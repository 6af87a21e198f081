import type { Evaluation } from '@agentgym/contract'
import { formatValue } from '../terminal/format-figures.ts'
import { safeText } from '../terminal/safe-text.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { criterionLines, verdictLine } from './result-lines.ts'

/** The evaluation as people read it: verdict, criteria, metrics and the trajectory's hash. */
export function evaluationLines(evaluation: Evaluation, terminal: Terminal): string[] {
  const { paint } = terminal
  const judged = new Set(evaluation.success.criteria.map((criterion) => criterion.metric))
  const metrics = Object.entries(evaluation.metrics).filter(([name]) => !judged.has(name))
  return [
    verdictLine(evaluation, terminal),
    ...criterionLines(evaluation, terminal),
    `  ${paint.dim('mean length')} ${formatValue(evaluation.length_mean)} steps`,
    ...metrics.map(([name, value]) => `  ${paint.dim(safeText(name, 60))} ${formatValue(value)}`),
    `  ${paint.dim(`seed ${evaluation.seed}, trajectories ${evaluation.trajectory_hash}`)}`,
  ]
}
