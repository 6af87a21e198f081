import {
  type ComparedPlayer,
  type Comparison,
  comparedPlayers,
  comparisonNote,
  decisionTimeText,
  type Evaluation,
  returnText,
  smallPriceText,
  solvedText,
} from '@agentgym/contract'
import { formatMetric } from '@agentgym/contract/metrics'
import { type Column, Table } from './table.tsx'

const evaluated: Column<ComparedPlayer>[] = [
  { title: 'On the same episodes', heading: true, cell: ({ name }) => name },
  { title: 'Solved', numeric: true, cell: solvedText },
  { title: 'Mean return', numeric: true, cell: (player) => returnText(player, (value) => formatMetric(value)) },
  { title: 'Targets', cell: ({ success }) => (success === null ? '–' : success ? 'met' : 'missed') },
]

const measured: Column<ComparedPlayer>[] = [
  { title: 'Player', heading: true, cell: ({ name }) => name },
  evaluated[1],
  ...evaluated.slice(2).map((column) => ({ ...column, wide: true })),
  {
    title: 'Decision time',
    numeric: true,
    cell: ({ decision }) => (decision === null ? '–' : decisionTimeText(decision.ms)),
  },
  {
    title: 'Cost per million',
    numeric: true,
    cell: ({ decision }) => (decision === null ? '–' : smallPriceText(decision.million)),
  },
]

type ComparedTableProps = {
  evaluation: Omit<Evaluation, 'seed'>
  /** As the publisher measured it. */
  comparison: Comparison | undefined
}

/** The agent beside players without training. Nothing for an evaluation without baselines. */
export function ComparedTable({ evaluation, comparison }: ComparedTableProps) {
  const players = comparedPlayers(evaluation, comparison)
  if (players.length === 0) return null
  const columns = comparison === undefined ? evaluated : measured
  return (
    <>
      <Table rows={players} columns={columns} caption="Compared with baselines" />
      {comparison !== undefined && (
        <p class="package-baseline">{comparisonNote(comparison)} Measured by the publisher, not verified.</p>
      )}
    </>
  )
}
