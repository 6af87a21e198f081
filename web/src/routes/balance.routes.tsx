import type { Payment } from '@agentgym/contract'
import { attempt, type FormFailure } from '../app/form-failure.ts'
import { localPath } from '../app/local-path.ts'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { accountField } from '../pages/market/accounts-of.ts'
import { BalancePage } from '../pages/market/balance-page.tsx'
import { formAmount, typedAmount } from '../pages/market/form-amount.ts'
import { onceAgain, onceHeader } from '../pages/market/once-key.tsx'
import { PaymentPage } from '../pages/market/payment-page.tsx'

export const balanceRoutes = [
  route('get', '/balance', { access: 'account' }, (visit) => {
    const { query, host } = visit
    const lacking = query.get('amount') ?? ''
    return balancePage(visit, {
      account: query.get('account') ?? '',
      cursor: query.get('cursor') ?? undefined,
      amount: /^[1-9]\d{0,14}$/.test(lacking) ? typedAmount(Number(lacking), host.currency) : '',
      next: localPath(query.get('next')),
    })
  }),

  route('post', '/balance/top-ups', { access: 'account' }, async (visit) => {
    const { form, host } = visit
    const account = form.get('account')
    const next = localPath(form.get('next'))
    let payment: Payment | undefined
    const failure = await attempt(async () => {
      const { data } = await visit.api.POST('/v1/top-ups', {
        params: { header: onceHeader(visit) },
        body: { amount_minor: formAmount(form, 'amount_minor', host.currency), account: accountField(account) },
      })
      payment = data
    })
    if (payment !== undefined) {
      const on = next === '/' ? '' : `?next=${encodeURIComponent(next)}`
      return visit.redirect(`/payments/${payment.id}${on}`)
    }
    return balancePage(visit, { account, amount: form.get('amount_minor'), next, failure })
  }),

  route('get', '/payments/:id', { access: 'account' }, async (visit) => {
    const { data } = await visit.api.GET('/v1/payments/{id}', { params: { path: { id: visit.params.id } } })
    const account = data.account === visit.account?.username ? '' : data.account
    const next = localPath(visit.query.get('next'))
    return visit.page(<PaymentPage payment={data} account={account} next={next} />, { title: 'Payment', hidden: true })
  }),
]

type Asked = { account: string; cursor?: string; amount: string; next: string; failure?: FormFailure | null }

async function balancePage(visit: Visit, { account, cursor, amount, next, failure = null }: Asked): Promise<Response> {
  const query = { account: accountField(account) }
  const [balance, payments] = await Promise.all([
    visit.api.GET('/v1/balance', { params: { query } }),
    visit.api.GET('/v1/payments', { params: { query: { ...query, cursor } } }),
  ])
  const page = (
    <BalancePage
      balance={balance.data}
      payments={payments.data}
      {...{ account, amount, next, failure }}
      once={onceAgain(visit, failure)}
    />
  )
  return visit.page(page, { title: 'Balance', hidden: true, status: failure?.status })
}
