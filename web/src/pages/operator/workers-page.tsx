import { formatAmount, type ServerStatus } from '@agentgym/contract'
import { Badge } from '../../components/badge.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { OperatorFrame } from './operator-frame.tsx'

type Worker = ServerStatus['workers'][number]
const tones = { idle: 'good', busy: 'warning', silent: 'bad' } as const

/** Machines that take jobs. */
export function WorkersPage({ status }: { status: ServerStatus }) {
  return (
    <OperatorFrame>
      {status.workers.length === 0 ? (
        <EmptyState title="Workers stand here once they have asked for a job" command="agentgym worker">
          <p>On any machine, with a token of the scope worker in AGENTGYM_TOKEN.</p>
        </EmptyState>
      ) : (
        <Table
          caption="Workers"
          rows={status.workers}
          columns={[
            { title: 'Worker', heading: true, cell: ({ name }) => <span class="mono">{name}</span> },
            { title: 'State', cell: ({ state }) => <Badge tone={tones[state]}>{state}</Badge> },
            { title: 'Jobs', numeric: true, cell: ({ running, slots }) => `${running} / ${slots}` },
            { title: 'Machine', cell: machineOf, wide: true },
            { title: 'CPU', numeric: true, cell: ({ usage }) => percent(usage.cpu) },
            { title: 'Memory', numeric: true, cell: ({ usage }) => percent(usage.memory), wide: true },
            { title: 'GPU', numeric: true, cell: ({ usage }) => percent(usage.gpu), wide: true },
            {
              title: 'An hour',
              numeric: true,
              cell: ({ price_minor_per_hour }) => formatAmount(price_minor_per_hour, status.currency),
              wide: true,
            },
            { title: 'Heard of', cell: ({ seen_at }) => <Time at={seen_at} /> },
          ]}
        />
      )}
    </OperatorFrame>
  )
}

function machineOf({ cores, memory_bytes, gpus }: Worker): string {
  const memory = `${Math.round(memory_bytes / 2 ** 30)} GiB`
  return [`${cores} cores`, memory, ...gpus.map(({ name }) => name)].join(', ')
}

function percent(share: number | null): string {
  return share === null ? '–' : `${Math.round(share * 100)}%`
}
