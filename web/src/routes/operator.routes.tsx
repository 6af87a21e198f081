import type { AuditList, ServerStatus } from '@agentgym/contract'
import { attempt, type FormFailure } from '../app/form-failure.ts'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { AuditPage } from '../pages/operator/audit-page.tsx'
import { ModerationPage, type ModerationValues, reportStates } from '../pages/operator/moderation-page.tsx'
import { QueuePage } from '../pages/operator/queue-page.tsx'
import { WorkersPage } from '../pages/operator/workers-page.tsx'

const operator = { access: 'operator' } as const

export const operatorRoutes = [
  route('get', '/operator', operator, (visit) => visit.redirect('/operator/queue')),

  route('get', '/operator/queue', operator, async (visit) =>
    visit.page(<QueuePage status={await readStatus(visit)} />, { title: 'Queue', hidden: true }),
  ),

  route('get', '/operator/workers', operator, async (visit) =>
    visit.page(<WorkersPage status={await readStatus(visit)} />, { title: 'Workers', hidden: true }),
  ),

  route('get', '/operator/moderation', operator, (visit) => showModeration(visit, {})),

  route('post', '/operator/reports/:id/decision', operator, async (visit) => {
    const { id } = visit.params
    const reason = visit.form.get('reason')
    const decision = visit.form.get('decision') === 'upheld' ? ('upheld' as const) : ('dismissed' as const)
    const failure = await attempt(() =>
      visit.api.POST('/v1/reports/{id}/decision', { params: { path: { id } }, body: { decision, reason } }),
    )
    if (failure === null) return visit.redirect('/operator/moderation?done=yes')
    return showModeration(visit, { failure: { ...failure, of: id, reason } })
  }),

  route('post', '/operator/packages', operator, async (visit) => {
    const { form } = visit
    const values: ModerationValues = {
      package: form.get('package').trim(),
      reason: form.get('reason'),
      for_all: form.get('for_all') === 'yes',
      refund: form.get('refund') === 'yes',
    }
    const failure = await attempt(() => moderate(visit, values))
    if (failure === null) return visit.redirect('/operator/moderation?done=yes')
    return showModeration(visit, { values, failure: { ...failure, of: 'package', reason: values.reason } })
  }),

  route('get', '/operator/audit', operator, async (visit) => {
    const filled = (name: string) => visit.query.get(name)?.trim() || undefined
    const filter = { actor: filled('actor'), action: filled('action'), subject: filled('subject') }
    const before = Number(visit.query.get('before')) || undefined
    const { data } = await visit.api.GET('/v1/audit', { params: { query: { ...filter, before, limit: 50 } } })
    const named = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
    return visit.page(<AuditPage list={data as AuditList} filter={named} />, { title: 'Audit log', hidden: true })
  }),
]

async function readStatus({ api }: Visit): Promise<ServerStatus> {
  const { data } = await api.GET('/v1/status')
  return data as ServerStatus
}

async function moderate({ api, form }: Visit, values: ModerationValues): Promise<void> {
  const [scope = '', name = ''] = values.package.split('/')
  const params = { path: { scope: scope || '-', name: name || '-' } }
  const { reason, for_all, refund } = values
  const base = '/v1/packages/{scope}/{name}' as const
  if (form.get('act') === 'restore') await api.POST(`${base}/restore`, { params, body: { reason } })
  else await api.POST(`${base}/take-down`, { params, body: { reason, for_all, refund: refund || for_all } })
}

type Shown = { values?: ModerationValues; failure?: (FormFailure & { of: string; reason: string }) | null }

async function showModeration(visit: Visit, { values, failure = null }: Shown): Promise<Response> {
  const state = reportStates.find((one) => one === visit.query.get('state')) ?? 'open'
  const query = { state, limit: 20, cursor: visit.query.get('cursor') ?? undefined }
  const { data } = await visit.api.GET('/v1/reports', { params: { query } })
  return visit.page(
    <ModerationPage
      state={state}
      reports={data.reports}
      next={data?.next_cursor ?? null}
      failure={failure}
      values={values}
      done={visit.query.get('done')}
    />,
    { title: 'Moderation', status: failure?.status, hidden: true },
  )
}
