import type { Leaderboard } from '@agentgym/contract'
import { formatCount, formatValue } from '../terminal/format-figures.ts'
import { safeText } from '../terminal/safe-text.ts'
import { renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** The leaderboard as a table. */
export function leaderboardLines({ entries }: Leaderboard, terminal: Terminal): string[] {
  const { paint, symbols } = terminal
  // Where there is no room for all, the agent's name is worth more.
  const wide = terminal.columns() >= 100
  const columns = [
    { title: '#', align: 'right' as const },
    { title: 'Agent', shrink: true },
    { title: 'Return', align: 'right' as const },
    { title: 'Targets' },
    { title: 'Steps', align: 'right' as const },
    { title: 'Verified' },
    ...(wide ? [{ title: 'sd', align: 'right' as const }, { title: 'Algorithm' }] : []),
  ]
  const reached = (success: boolean | null) =>
    success === null ? '-' : success ? `${symbols.ok} reached` : `${symbols.failed} missed`
  const rows = entries.map((entry) => [
    String(entry.rank),
    safeText(`${entry.agent.name}@${entry.agent.version}`, 240),
    formatValue(entry.return_mean),
    reached(entry.success),
    formatCount(entry.steps),
    entry.verified_at.slice(0, 10),
    ...(wide ? [formatValue(entry.return_std), safeText(entry.agent.algorithm, 20)] : []),
  ])
  return renderTable(columns, rows, terminal, (text, _, column) => (column === 1 ? paint.bold(text) : text))
}
