import { type LevelEvaluation, levelMetrics } from '@agentgym/contract'
import { formatMetric, metricLabel, metricUnit } from '@agentgym/contract/metrics'
import { type Column, Table } from './table.tsx'

type Evaluated = Parameters<typeof levelMetrics>[0]

/** Results by level, a row each: the return, and the metrics of the success criteria. Nothing for a scenario without levels. */
export function LevelTable({ evaluation }: { evaluation: Evaluated }) {
  const { levels } = evaluation
  if (levels === undefined) return null
  const units = new Map(
    evaluation.success.criteria.map(({ metric, target }) => [metric, metricUnit(metric, target)] as const),
  )
  const columns: Column<LevelEvaluation>[] = [
    { title: 'Level', heading: true, cell: ({ name }) => name },
    { title: 'Episodes', numeric: true, wide: true, cell: ({ episodes }) => episodes.toLocaleString('en') },
    { title: 'Mean return', numeric: true, cell: ({ return_mean }) => formatMetric(return_mean) },
    ...levelMetrics(evaluation).map((metric) => ({
      title: metricLabel(metric),
      numeric: true,
      cell: ({ metrics }: LevelEvaluation) =>
        formatMetric(Object.hasOwn(metrics, metric) ? metrics[metric] : null, units.get(metric)),
    })),
  ]
  return <Table rows={levels} columns={columns} caption="Results by level" />
}
