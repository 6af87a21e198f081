import type { SpendCap } from '@agentgym/contract'
import { attempt, type FormFailure } from '../app/form-failure.ts'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { accountField } from '../pages/market/accounts-of.ts'
import { formAmountOrZero, invalidField } from '../pages/market/form-amount.ts'
import { accountAddress } from '../pages/market/market-frame.tsx'
import { SpendingPage } from '../pages/market/spending-page.tsx'

const path = '/settings/spending'

export const spendingRoutes = [
  route('get', path, { access: 'account' }, (visit) => spendingPage(visit, visit.query.get('account') ?? '')),

  route('post', path, { access: 'account' }, async (visit) => {
    const { form } = visit
    const account = form.get('account')
    const failure = await attempt(() => visit.api.PUT('/v1/spend-caps', { body: capRequest(visit) }))
    return failure === null ? visit.redirect(accountAddress(path, account)) : spendingPage(visit, account, failure)
  }),

  route('post', `${path}/:id/remove`, { access: 'account' }, async (visit) => {
    const account = visit.form.get('account')
    const params = { path: { id: visit.params.id } }
    const failure = await attempt(() => visit.api.DELETE('/v1/spend-caps/{id}', { params }))
    return failure === null ? visit.redirect(accountAddress(path, account)) : spendingPage(visit, account, failure)
  }),
]

/** Nothing at all may be spent, too: an amount of 0 is one, and an empty field is not. */
function capRequest({ form, host }: Visit) {
  const period = form.get('period')
  if (period !== 'day' && period !== 'month' && period !== 'total') throw invalidField('period', 'choose one')
  if (form.get('amount_minor').trim() === '') throw invalidField('amount_minor', 'say how much')
  const token = form.get('token_id')
  return {
    period,
    amount_minor: formAmountOrZero(form, 'amount_minor', host.currency),
    token_id: token === '' ? undefined : token,
    account: accountField(form.get('account')),
  } as const
}

async function spendingPage(visit: Visit, account: string, failure: FormFailure | null = null): Promise<Response> {
  const { api, form } = visit
  const own = account === '' || account === visit.account?.username
  const [{ caps }, tokens] = await Promise.all([capsOf(visit, account), own ? api.GET('/v1/tokens') : null])
  const page = (
    <SpendingPage caps={caps} tokens={tokens?.data?.tokens ?? []} account={account} values={form} failure={failure} />
  )
  return visit.page(page, { title: 'Spend limits', hidden: true, status: failure?.status })
}

async function capsOf({ api }: Visit, account: string): Promise<{ caps: SpendCap[] }> {
  const { data } = await api.GET('/v1/spend-caps', { params: { query: { account: accountField(account) } } })
  return data ?? { caps: [] }
}
