import type { ServerStatus } from '@agentgym/contract'
import { Figure, Figures } from '../../components/figure.tsx'
import { Notice } from '../../components/notice.tsx'
import { Table } from '../../components/table.tsx'
import { OperatorFrame } from './operator-frame.tsx'

const kinds: { kind: keyof ServerStatus['queue']; title: string; text: string }[] = [
  { kind: 'check', title: 'Checks', text: 'of what was published' },
  { kind: 'evaluate', title: 'Evaluations', text: 'of agents, for their seal' },
  { kind: 'train', title: 'Training', text: 'runs' },
]

/** What waits, and what is being done. */
export function QueuePage({ status }: { status: ServerStatus }) {
  const there = status.workers.filter(({ state }) => state !== 'silent')
  const slots = there.reduce((sum, worker) => sum + worker.slots, 0)
  const used = there.reduce((sum, worker) => sum + worker.running, 0)
  const waiting = kinds.reduce((sum, { kind }) => sum + status.queue[kind].queued, 0)
  return (
    <OperatorFrame>
      {waiting > 0 && there.length === 0 && (
        <Notice kind="warning">
          {waiting} {waiting === 1 ? 'job waits' : 'jobs wait'} and no worker is there. <code>agentgym worker</code>{' '}
          starts one, with a token of the scope <code>worker</code>.
        </Notice>
      )}
      <Figures>
        <Figure label="Waiting">{waiting}</Figure>
        <Figure label="Slots in use" note={`of ${slots}`}>
          {used}
        </Figure>
        <Figure label="Workers" note={`${status.workers.length - there.length} silent`}>
          {there.length}
        </Figure>
      </Figures>
      <Table
        caption="Jobs by kind"
        rows={kinds}
        columns={[
          {
            title: 'Jobs',
            heading: true,
            cell: ({ title, text }) => (
              <>
                {title} <span class="dim">{text}</span>
              </>
            ),
          },
          { title: 'Waiting', numeric: true, cell: ({ kind }) => status.queue[kind].queued },
          { title: 'Running', numeric: true, cell: ({ kind }) => status.queue[kind].running },
        ]}
      />
    </OperatorFrame>
  )
}
