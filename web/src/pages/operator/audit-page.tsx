import type { AuditList } from '@agentgym/contract'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Table } from '../../components/table.tsx'
import { OperatorFrame } from './operator-frame.tsx'

export type AuditFilter = { actor?: string; action?: string; subject?: string }
type Entry = AuditList['entries'][number]

/** Who did what. */
export function AuditPage({ list, filter }: { list: AuditList; filter: AuditFilter }) {
  return (
    <OperatorFrame>
      <form method="get" action="/operator/audit" class="desk-filter" aria-label="Filter the audit log">
        <FilterField name="actor" label="Who" value={filter.actor} />
        <FilterField name="action" label="Action" value={filter.action} />
        <FilterField name="subject" label="Subject" value={filter.subject} />
        <Button>Filter</Button>
      </form>
      {list.entries.length === 0 ? (
        <EmptyState title="No entry is like that">
          <a href="/operator/audit">Show all of them</a>
        </EmptyState>
      ) : (
        <Table caption="Audit log" rows={list.entries} columns={columns} />
      )}
      {list.next_before !== null && (
        <a href={`/operator/audit?${new URLSearchParams({ ...filter, before: String(list.next_before) })}`}>
          Older entries
        </a>
      )}
    </OperatorFrame>
  )
}

function FilterField({ name, label, value }: { name: string; label: string; value?: string }) {
  return (
    <label class="desk-filter-text">
      <span class="visually-hidden">{label}</span>
      <input type="text" name={name} value={value} placeholder={label} spellcheck={false} />
    </label>
  )
}

const columns = [
  {
    title: 'When, UTC',
    cell: ({ at }: Entry) => (
      <time class="mono nowrap" datetime={at}>
        {at.slice(0, 19).replace('T', ' ')}
      </time>
    ),
  },
  { title: 'Who', cell: ({ actor, token_id }: Entry) => whoOf(actor, token_id) },
  { title: 'Action', heading: true, cell: ({ action }: Entry) => <code>{action}</code> },
  { title: 'Subject', cell: ({ subject }: Entry) => <code class="audit-subject">{subject}</code> },
  { title: 'From', cell: ({ ip }: Entry) => <code>{ip ?? '–'}</code>, wide: true },
  {
    title: 'Data',
    cell: ({ data }: Entry) =>
      Object.keys(data).length > 0 && <code class="audit-data">{JSON.stringify(data).slice(0, 300)}</code>,
    wide: true,
  },
]

function whoOf(actor: string | null, tokenId: string | null) {
  return (
    <>
      {actor ?? '–'}
      {tokenId !== null && <span class="dim"> by token</span>}
    </>
  )
}
