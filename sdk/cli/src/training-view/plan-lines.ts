import { shortId } from '../registry/find-by-id.ts'
import { formatCount } from '../terminal/format-figures.ts'
import { safeText } from '../terminal/safe-text.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { TrainingPlan } from './training-plan.ts'

/** What is about to happen, said before it costs time. */
export function planLines(plan: TrainingPlan, terminal: Terminal, verbose: boolean): string[] {
  const { paint, symbols } = terminal
  const verb = plan.resume ? 'Resume training on' : 'Train on'
  const lines = [
    `${symbols.next} ${verb} ${paint.bold(safeText(plan.scenario, 230))} with ${plan.algorithm}, ${formatCount(plan.steps)} steps, seed ${plan.seed}`,
  ]
  if (plan.remote) {
    lines.push(`  ${paint.dim('Run')} ${shortId(plan.remote.id)} ${paint.dim('at')} ${safeText(plan.remote.server)}`)
  }
  if (plan.out !== null) lines.push(`  ${paint.dim('The agent will lie in')} ${safeText(plan.out)}`)
  if (verbose) {
    for (const [name, value] of Object.entries(plan.settings)) {
      lines.push(`  ${paint.dim(`${safeText(name, 60)} = ${safeText(JSON.stringify(value) ?? '', 200)}`)}`)
    }
  }
  return lines
}
