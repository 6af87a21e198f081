import type { Leaderboard } from '@agentgym/contract'
import { formatCount, formatValue } from '../terminal/format-figures.ts'
import { safeText } from '../terminal/safe-text.ts'
import { renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** The leaderboard as a table. */
export function leaderboardLines({ entries }: Leaderboard, terminal: Terminal): string[] {
  const { paint, symbols } = terminal
  const columns = [
    { title: '#', align: 'right' as const },
    { title: 'Agent', shrink: true },
    { title: 'Return', align: 'right' as const },
    { title: 'sd', align: 'right' as const },
    { title: 'Targets' },
    { title: 'Steps', align: 'right' as const },
    { title: 'Algorithm' },
    { title: 'Verified' },
  ]
  const reached = (success: boolean | null) =>
    success === null ? '-' : success ? `${symbols.ok} reached` : `${symbols.failed} missed`
  const rows = entries.map((entry) => [
    String(entry.rank),
    safeText(`${entry.agent.name}@${entry.agent.version}`, 240),
    formatValue(entry.return_mean),
    formatValue(entry.return_std),
    reached(entry.success),
    formatCount(entry.steps),
    safeText(entry.agent.algorithm, 20),
    entry.verified_at.slice(0, 10),
  ])
  return renderTable(columns, rows, terminal, (text, _, column) => (column === 1 ? paint.bold(text) : text))
}
