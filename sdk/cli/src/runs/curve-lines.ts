import { curveChart } from '../terminal/charts.ts'
import { formatTarget, formatValue } from '../terminal/format-values.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { fitText } from '../terminal/text.ts'

/** One point per iteration in which the mean return is known. */
export type ReturnCurve = { steps: number; return_mean: number }[]

const chartRows = 10

/** The learning curve with its title; nothing before the first point. No line is wider than the terminal. */
export function curveLines(
  curve: ReturnCurve,
  { target, stepsEnd }: { target: number | undefined; stepsEnd: number | undefined },
  terminal: Terminal,
): string[] {
  const last = curve.at(-1)
  if (last === undefined) return []
  const { paint } = terminal
  const rows = curveChart(
    curve.map(({ steps, return_mean }) => ({ x: steps, y: return_mean })),
    {
      width: Math.min(terminal.columns(), 100) - 1,
      height: chartRows,
      xEnd: stepsEnd ?? last.steps,
      target,
      unicode: terminal.unicode,
    },
  )
  const shown = target === undefined ? '' : `, target ${formatTarget(target)} dashed`
  const title = `Mean return of the last 100 episodes: ${formatValue(last.return_mean)}${shown}`
  return [
    fitText(title, terminal.columns() - 1, terminal.symbols.ellipsis),
    ...rows.map(({ axis, plot, target: onTarget }) => {
      // Dim the dashes of the target, but not the curve crossing them.
      const parts = onTarget ? plot.split(/([╌-]+)/) : [plot]
      const painted = parts.map((part, at) => (at % 2 === 1 ? paint.dim(part) : paint.accent(part)))
      return `${paint.dim(axis)}${painted.join('')}`.trimEnd()
    }),
  ]
}
