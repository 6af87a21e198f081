import type { Run } from '@agentgym/contract'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { RunTable } from './run-table.tsx'

export type RunFilter = { state?: Run['state']; scenario?: string; account?: string }

type RunsPageProps = {
  runs: Run[]
  filter: RunFilter
  /** Accounts that runs may be of. */
  accounts: string[]
  next: string | null
}

const states: { value: Run['state'] | ''; label: string }[] = [
  { value: '', label: 'Every state' },
  { value: 'queued', label: 'Queued' },
  { value: 'running', label: 'Running' },
  { value: 'completed', label: 'Completed' },
  { value: 'failed', label: 'Failed' },
  { value: 'cancelled', label: 'Cancelled' },
  { value: 'budget_exceeded', label: 'Out of budget' },
]

/** Runs of one's accounts, newest first; those that are ticked can be put beside each other. */
export function RunsPage({ runs, filter, accounts, next }: RunsPageProps) {
  const filtered = Object.values(filter).some((value) => value !== undefined)
  return (
    <div class="desk">
      <div class="desk-head">
        <h1>Runs</h1>
        <Button look="primary" href="/runs/new">
          Start a run
        </Button>
      </div>
      <Filters filter={filter} accounts={accounts} />
      {runs.length === 0 ? (
        filtered ? (
          <EmptyState title="No run is like that">
            <a href="/runs">Show all of them</a>
          </EmptyState>
        ) : (
          <EmptyState
            title="Runs of training on this server’s machines stand here"
            command="agentgym train @scope/scenario --remote"
          >
            <p>Each with its live curve, what it costs, its checkpoints and its agent.</p>
          </EmptyState>
        )
      ) : (
        <form method="get" action="/runs/compare" class="run-list">
          <RunTable runs={runs} tickable />
          <div class="run-list-foot">
            {runs.length > 1 && <Button>Compare what is ticked</Button>}
            {next !== null && <a href={olderAddress(filter, next)}>Older runs</a>}
          </div>
        </form>
      )}
    </div>
  )
}

/** What is not asked for does not stand in the address. */
function olderAddress(filter: RunFilter, cursor: string): string {
  const asked = Object.entries(filter).filter(([, value]) => value !== undefined)
  return `/runs?${new URLSearchParams([...asked, ['cursor', cursor]])}`
}

function Filters({ filter, accounts }: Pick<RunsPageProps, 'filter' | 'accounts'>) {
  return (
    <form method="get" action="/runs" class="desk-filter" aria-label="Filter runs">
      <label>
        <span class="visually-hidden">State</span>
        <select name="state">
          {states.map(({ value, label }) => (
            <option value={value} selected={value === (filter.state ?? '')}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {accounts.length > 1 && (
        <label>
          <span class="visually-hidden">Account</span>
          <select name="account">
            <option value="">Every account</option>
            {accounts.map((account) => (
              <option value={account} selected={account === filter.account}>
                {account}
              </option>
            ))}
          </select>
        </label>
      )}
      <label class="desk-filter-text">
        <span class="visually-hidden">Scenario</span>
        <input type="text" name="scenario" value={filter.scenario} placeholder="@scope/scenario" spellcheck={false} />
      </label>
      <Button>Filter</Button>
    </form>
  )
}
