import type { Leaderboard } from '@agentgym/contract'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Icon } from '../../components/icon.tsx'
import { packageAddress } from '../../components/package-address.ts'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { shownNumber } from '../../pictures/shown-number.ts'

type Entry = Leaderboard['entries'][number]

const columns: Column<Entry>[] = [
  { title: 'Rank', numeric: true, cell: ({ rank }) => rank },
  {
    title: 'Agent',
    heading: true,
    cell: ({ agent }) => (
      <a class="mono" href={packageAddress(agent.name)}>
        {agent.name}
        <span class="dim">@{agent.version}</span>
      </a>
    ),
  },
  { title: 'Algorithm', wide: true, cell: ({ agent }) => agent.algorithm.toUpperCase() },
  {
    title: 'Return',
    numeric: true,
    cell: ({ return_mean, return_std }) => (
      <>
        {shownNumber(return_mean)}
        {return_std !== null && <span class="dim"> ± {shownNumber(return_std)}</span>}
      </>
    ),
  },
  {
    title: 'Success',
    cell: ({ success }) =>
      success === null ? (
        <span class="dim">–</span>
      ) : (
        <Badge tone={success ? 'good' : 'plain'}>{success ? 'met' : 'not met'}</Badge>
      ),
  },
  {
    title: 'Length',
    numeric: true,
    wide: true,
    cell: ({ length_mean }) => (length_mean === null ? '–' : shownNumber(length_mean)),
  },
  { title: 'Trained', numeric: true, wide: true, cell: ({ steps }) => steps.toLocaleString('en') },
  { title: 'Episodes', numeric: true, wide: true, cell: ({ episodes }) => episodes },
  { title: 'Verified', wide: true, cell: ({ verified_at }) => <Time at={verified_at} /> },
]

/** Verified agents of a scenario's version, the best first. */
export function AgentsTab({ board, name, first }: { board: Leaderboard; name: string; first: boolean }) {
  const { scenario, entries, next } = board
  const address = `${packageAddress(name)}/agents`
  return (
    <section class="package-section" aria-labelledby="leaderboard">
      <h2 id="leaderboard">Verified agents</h2>
      <p class="dim">
        On version <span class="mono">{scenario.version}</span>, by mean return over held-out episodes that nobody could
        know when the agent was published. Return is ± one standard deviation; trained in environment steps.
      </p>
      {entries.length === 0 ? (
        <EmptyState
          title={first ? 'No agent is verified on this version yet' : 'No more agents'}
          command={first ? `agentgym train ${name} --out my-agent && agentgym agent publish my-agent` : undefined}
        >
          An agent stands here once its publisher’s claims came out again on this server.
        </EmptyState>
      ) : (
        <Table rows={entries} columns={columns} caption={`Verified agents of ${scenario.name}@${scenario.version}`} />
      )}
      <nav class="pager" aria-label="Pages">
        {!first && <Button href={address}>First page</Button>}
        {next !== null && (
          <Button href={`${address}?cursor=${encodeURIComponent(next)}`}>
            Next page <Icon name="chevron-right" />
          </Button>
        )}
      </nav>
    </section>
  )
}
