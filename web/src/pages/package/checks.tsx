import type { VersionDetails } from '@agentgym/contract'
import { Badge } from '../../components/badge.tsx'
import { type Column, Table } from '../../components/table.tsx'

type Check = VersionDetails['checks'][number]

const columns: Column<Check>[] = [
  { title: 'Check', heading: true, cell: ({ id }) => <code>{id}</code> },
  { title: 'Result', cell: ({ ok }) => <Badge tone={ok ? 'good' : 'bad'}>{ok ? 'passed' : 'failed'}</Badge> },
  { title: 'What was found', cell: ({ message }) => <span class="package-finding">{message}</span> },
]

/** What the server found when it ran the version in its sandbox: speed, determinism, baselines and the rest. */
export function Checks({ checks }: { checks: Check[] }) {
  if (checks.length === 0) return null
  const baselines = checks.filter(({ id }) => id === 'baselines' || id === 'speed')
  const failed = checks.filter(({ ok }) => !ok)
  return (
    <section class="package-section" aria-labelledby="checks">
      <h2 id="checks">Checked by this server</h2>
      {baselines.map(({ id, message }) => (
        <p class="package-baseline">
          <span class="package-label">{id === 'speed' ? 'Speed' : 'Baselines'}</span> {message}
        </p>
      ))}
      <details open={failed.length > 0}>
        <summary class="package-more">
          {checks.length - failed.length} of {checks.length} checks passed
        </summary>
        <Table rows={checks} columns={columns} caption="Checks of this version" />
      </details>
    </section>
  )
}
