import { attempt, type FormFailure } from '../app/form-failure.ts'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { optionalFormAmount } from '../pages/market/form-amount.ts'
import { publishFieldOf } from '../pages/runs/publish-form.tsx'
import { runPath, showRun } from './show-run.tsx'

const account = { access: 'account' } as const

/** What one does with the agent of a run that has ended. */
export const runAgentRoutes = [
  route('post', `${runPath}/publish`, account, async (visit) => {
    const failure = await publish(visit)
    if (failure === null) return visit.redirect(`/runs/${visit.params.id}#agent`)
    return showRun(visit, { form: 'publish', failure, values: visit.form })
  }),

  route('post', `${runPath}/evaluate`, account, async (visit) => {
    const { id } = visit.params
    let evaluation = ''
    const failure = await attempt(async () => {
      const body = { episodes: Number(visit.form.get('episodes')), seed: Number(visit.form.get('seed')) }
      const { data } = await visit.api.POST('/v1/runs/{id}/evaluations', { params: { path: { id } }, body })
      evaluation = data?.id ?? ''
    })
    if (failure === null) return visit.redirect(`/runs/${id}?evaluation=${evaluation}#agent`)
    return showRun(visit, { form: 'evaluate', failure, values: visit.form })
  }),
]

/**
 * First the agent, then its price: the same form again publishes nothing twice, and sets the price that was refused.
 */
async function publish({ api, form, host, params: { id } }: Visit): Promise<FormFailure | null> {
  const filled = (field: string) => form.get(field).trim() || undefined
  const visibility = filled('visibility')
  let published: string | undefined
  const failure = await attempt(async () => {
    // Before anything is published: an amount that cannot be read is none.
    const amount = optionalFormAmount(form, 'amount_minor', host.currency)
    const { data } = await api.POST('/v1/runs/{id}/publish', {
      params: { path: { id } },
      // What is no visibility, the API says.
      body: {
        name: form.get('name').trim(),
        version: filled('version'),
        visibility: visibility as 'public' | undefined,
      },
    })
    published = data?.name
    if (amount === undefined || published === undefined) return
    const [scope, name] = published.split('/')
    const body = { kind: 'one_time' as const, amount_minor: amount }
    await api.PUT('/v1/packages/{scope}/{name}/price', { params: { path: { scope, name } }, body })
  }, publishFieldOf)
  if (failure === null || published === undefined) return failure
  return {
    ...failure,
    fields: 'name' in failure.fields ? { amount_minor: failure.fields.name } : failure.fields,
    message: `${published} is published; its price is not set. ${failure.message ?? ''}`.trim(),
  }
}
