import type { Run } from '@agentgym/contract'
import { attempt, type FormFailure } from '../app/form-failure.ts'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { accountsOf } from '../pages/market/accounts-of.ts'
import { formAmount } from '../pages/market/form-amount.ts'
import { ComparePage } from '../pages/runs/compare-page.tsx'
import { findRun, readPoints } from '../pages/runs/read-run.ts'
import { type RunFilter, RunsPage } from '../pages/runs/runs-page.tsx'
import { isRunId, runPath, showRun } from './show-run.tsx'

/** Runs side by side; more cannot be told apart. */
const mostCompared = 5
const account = { access: 'account' } as const

export const runRoutes = [
  route('get', '/runs', account, async (visit) => {
    const filter = filterIn(visit.query)
    const cursor = visit.query.get('cursor') ?? undefined
    const { data } = await visit.api.GET('/v1/runs', { params: { query: { ...filter, cursor, limit: 20 } } })
    const runs = (data?.runs ?? []) as Run[]
    return visit.page(
      <RunsPage
        runs={runs}
        filter={filter}
        accounts={visit.account === null ? [] : accountsOf(visit.account, 'viewer')}
        next={data?.next_cursor ?? null}
      />,
      { title: 'Runs', hidden: true },
    )
  }),

  route('get', '/runs/compare', account, async (visit) => {
    const ids = [...new Set(visit.query.getAll('ids').flatMap((text) => text.split(',')))].filter(isRunId)
    const compared = await Promise.all(
      ids
        .slice(0, mostCompared)
        .map(async (id) => ({ run: await findRun(visit, id), points: await readPoints(visit, id) })),
    )
    const { data } = await visit.api.GET('/v1/runs', { params: { query: { limit: 50 } } })
    const others = ((data?.runs ?? []) as Run[]).filter(({ id }) => !ids.includes(id))
    return visit.page(<ComparePage compared={compared} others={compared.length < mostCompared ? others : []} />, {
      title: 'Compare runs',
      hidden: true,
    })
  }),

  route('get', runPath, account, (visit) => showRun(visit)),

  route('post', `${runPath}/cancel`, account, async (visit) => {
    const path = { params: { path: { id: visit.params.id } } }
    const failure = await attempt(() => visit.api.POST('/v1/runs/{id}/cancel', path))
    return afterAct(visit, failure)
  }),

  route('post', `${runPath}/resume`, account, async (visit) => {
    const { id } = visit.params
    const failure = await attempt(async () => {
      const budget = formAmount(visit.form, 'budget_minor', visit.host.currency)
      await visit.api.POST('/v1/runs/{id}/resume', { params: { path: { id } }, body: { budget_minor: budget } })
    })
    return afterAct(visit, failure)
  }),
]

function afterAct(visit: Visit, failure: FormFailure | null): Response | Promise<Response> {
  if (failure === null) return visit.redirect(`/runs/${visit.params.id}`)
  return showRun(visit, { form: 'act', failure, values: visit.form })
}

function filterIn(query: URLSearchParams): RunFilter {
  const states: Run['state'][] = ['queued', 'running', 'completed', 'failed', 'cancelled', 'budget_exceeded']
  const filled = (name: string) => query.get(name)?.trim() || undefined
  return {
    state: states.find((state) => state === query.get('state')),
    scenario: filled('scenario'),
    account: filled('account'),
  }
}
