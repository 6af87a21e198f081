import { attempt, type FormFailure } from '../app/form-failure.ts'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { accountField } from '../pages/market/accounts-of.ts'
import { EarningsPage, type EarningsView } from '../pages/market/earnings-page.tsx'
import { optionalFormAmount } from '../pages/market/form-amount.ts'
import { accountAddress } from '../pages/market/market-frame.tsx'
import { onceAgain, onceHeader } from '../pages/market/once-key.tsx'

export const earningsRoutes = [
  route('get', '/earnings', { access: 'account' }, async (visit) => {
    const account = visit.query.get('account') ?? ''
    const view = await readEarnings(visit, account, visit.query.get('cursor') ?? undefined)
    return visit.page(<EarningsPage account={account} {...view} />, frame)
  }),

  route('post', '/earnings/payouts', { access: 'account' }, async (visit) => {
    const { form, host } = visit
    const account = form.get('account')
    const failure = await attempt(() =>
      visit.api.POST('/v1/payouts', {
        params: { header: onceHeader(visit) },
        body: {
          amount_minor: optionalFormAmount(form, 'amount_minor', host.currency),
          account: accountField(account),
        },
      }),
    )
    if (failure === null) return visit.redirect(accountAddress('/earnings', account))
    return failedPage(visit, { account, failed: 'payout', failure, amount: form.get('amount_minor') })
  }),

  /** The provider's form has an address that is told but once: it is shown on a page, to which no form of ours may lead. */
  route('post', '/earnings/destination', { access: 'account' }, async (visit) => {
    const account = visit.form.get('account')
    let destination: EarningsView['destination'] | undefined
    const failure = await attempt(async () => {
      const { data } = await visit.api.PUT('/v1/payout-destination', { body: { account: accountField(account) } })
      destination = data
    })
    if (failure !== null) return failedPage(visit, { account, failed: 'destination', failure })
    if (destination === undefined || destination.ready) return visit.redirect(accountAddress('/earnings', account))
    const view = await readEarnings(visit, account)
    return visit.page(<EarningsPage account={account} {...view} destination={destination} />, frame)
  }),
]

const frame = { title: 'Earnings', hidden: true }

type Failed = { account: string; failed: 'payout' | 'destination'; failure: FormFailure; amount?: string }

async function failedPage(visit: Visit, { account, failure, ...failed }: Failed): Promise<Response> {
  const view = await readEarnings(visit, account)
  const page = (
    <EarningsPage account={account} {...view} {...failed} failure={failure} once={onceAgain(visit, failure)} />
  )
  return visit.page(page, { ...frame, status: failure.status })
}

async function readEarnings({ api }: Visit, account: string, cursor?: string): Promise<EarningsView> {
  const query = { account: accountField(account) }
  const [earnings, earned, entries, payouts, destination] = await Promise.all([
    api.GET('/v1/earnings', { params: { query } }),
    api.GET('/v1/earnings/days', { params: { query } }),
    api.GET('/v1/earnings/entries', { params: { query: { ...query, cursor, limit: 50 } } }),
    api.GET('/v1/payouts', { params: { query: { ...query, limit: 20 } } }),
    api.GET('/v1/payout-destination', { params: { query } }),
  ])
  if (!earnings.data || !earned.data || !entries.data || !payouts.data || !destination.data)
    throw new Error('no earnings and no failure')
  return {
    earnings: earnings.data,
    earned: earned.data,
    entries: entries.data.entries,
    next: entries.data.next_cursor,
    payouts: payouts.data.payouts,
    destination: destination.data,
  }
}
