import type { AuditList } from '@agentgym/contract'
import { route } from '../../app/route.ts'
import { Button } from '../../components/controls.tsx'
import { EmptyState } from '../../components/messages.tsx'
import { Table } from '../../components/table.tsx'
import { Timestamp } from '../../components/values.tsx'
import { auditSentence } from './audit-sentences.ts'
import { OperatorFrame } from './status.tsx'

export const auditRoutes = [
  route('get', '/operator/audit', { access: 'operator' }, async (visit) => {
    const filled = (name: string) => visit.query.get(name)?.trim() || undefined
    const filter = { actor: filled('actor'), action: filled('action'), subject: filled('subject') }
    const before = Number(visit.query.get('before')) || undefined
    const { data } = await visit.api.GET('/v1/audit', { params: { query: { ...filter, before, limit: 50 } } })
    const named = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
    const raw = visit.query.get('view') === 'raw'
    return visit.page(<AuditPage list={data} filter={named} raw={raw} />, { title: 'Audit log', hidden: true })
  }),
]

type AuditFilter = { actor?: string; action?: string; subject?: string }
type Entry = AuditList['entries'][number]

/** The audit log: as sentences, or raw. */
function AuditPage({ list, filter, raw }: { list: AuditList; filter: AuditFilter; raw: boolean }) {
  const view = raw ? { view: 'raw' } : { view: 'sentences' }
  return (
    <OperatorFrame>
      <form method="get" action="/operator/audit" class="workspace-filter" aria-label="Filter the audit log">
        <FilterField name="actor" label="Actor" value={filter.actor} />
        <FilterField name="action" label="Action" value={filter.action} />
        <FilterField name="subject" label="Subject" value={filter.subject} />
        {raw && <input type="hidden" name="view" value="raw" />}
        <Button>Filter</Button>
      </form>
      <nav class="settings-row" aria-label="View">
        <a href={`/operator/audit?${new URLSearchParams(filter)}`} aria-current={raw ? undefined : 'page'}>
          Sentences
        </a>
        <a
          href={`/operator/audit?${new URLSearchParams({ ...filter, view: 'raw' })}`}
          aria-current={raw ? 'page' : undefined}
        >
          Raw
        </a>
      </nav>
      {list.entries.length === 0 ? (
        <EmptyState title="No matching entries">
          <a href="/operator/audit">Clear filters</a>
        </EmptyState>
      ) : raw ? (
        <Table caption="Audit log" rows={list.entries} columns={columns} />
      ) : (
        <ul class="notifications">
          {list.entries.map((entry) => (
            <AuditItem entry={entry} />
          ))}
        </ul>
      )}
      {list.next_before !== null && (
        <a href={`/operator/audit?${new URLSearchParams({ ...filter, ...view, before: String(list.next_before) })}`}>
          Older entries
        </a>
      )}
    </OperatorFrame>
  )
}

function AuditItem({ entry }: { entry: Entry }) {
  const { actor, token_id, at, ip } = entry
  const { sentence, reason } = auditSentence(entry)
  return (
    <li class="notification">
      <div class="notification-body">
        <p>
          <strong>{actor ?? 'AgentGym'}</strong> {sentence}
        </p>
        {reason !== '' && <p class="report-text">Reason: {reason}</p>}
        <p class="report-facts">
          <Timestamp at={at} />
          {token_id !== null && <span>by token</span>}
          {ip !== null && <span>from {ip}</span>}
        </p>
      </div>
    </li>
  )
}

function FilterField({ name, label, value }: { name: string; label: string; value?: string }) {
  return (
    <label class="workspace-filter-text">
      <span class="visually-hidden">{label}</span>
      <input type="text" name={name} value={value} placeholder={label} spellcheck={false} />
    </label>
  )
}

const columns = [
  {
    title: 'Time (UTC)',
    cell: ({ at }: Entry) => (
      <time class="mono nowrap" datetime={at}>
        {at.slice(0, 19).replace('T', ' ')}
      </time>
    ),
  },
  { title: 'Actor', cell: ({ actor, token_id }: Entry) => whoOf(actor, token_id) },
  { title: 'Action', heading: true, cell: ({ action }: Entry) => <code>{action}</code> },
  { title: 'Subject', cell: ({ subject }: Entry) => <code class="audit-subject">{subject}</code> },
  { title: 'IP address', cell: ({ ip }: Entry) => <code>{ip ?? '–'}</code>, wide: true },
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
      {tokenId !== null && <span class="dim"> via token</span>}
    </>
  )
}
