import type { Offer, Order } from '@agentgym/contract'
import { attempt } from '../app/form-failure.ts'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { accountField } from '../pages/market/accounts-of.ts'
import { CheckoutPage } from '../pages/market/checkout-page.tsx'
import { onceAgain, onceHeader } from '../pages/market/once-key.tsx'
import { packagePath } from '../pages/package/read-package.ts'

export const checkoutRoutes = [
  route('get', '/buy/:scope/:name', { access: 'account' }, async (visit) => {
    const asked = { range: visit.query.get('range') ?? '', account: visit.query.get('account') ?? '' }
    const offer = await readOffer(visit, asked)
    return visit.page(<CheckoutPage offer={offer} {...asked} />, { ...frame, title: `Buy ${offer.package}` })
  }),

  route('post', '/buy/:scope/:name', { access: 'account' }, async (visit) => {
    const { form } = visit
    const asked = { range: form.get('range'), account: form.get('account') }
    let order: Order | undefined
    const failure = await attempt(async () => {
      order = await placeOrder(visit, asked.account)
    })
    if (order !== undefined) return visit.redirect(`/orders/${order.id}`)
    // What holds now, which may be another price than the one that was refused.
    const offer = await readOffer(visit, asked)
    const sent = { payWith: payWith(visit), failure, once: onceAgain(visit, failure) }
    const page = <CheckoutPage offer={offer} {...asked} {...sent} />
    return visit.page(page, { ...frame, title: `Buy ${offer.package}`, status: failure?.status })
  }),
]

const frame = { frame: 'plain', hidden: true } as const

type Asked = { range: string; account: string }

async function readOffer(visit: Visit, { range, account }: Asked): Promise<Offer> {
  const query = { range: range === '' ? undefined : range, account: accountField(account) }
  const { data } = await visit.api.GET('/v1/packages/{scope}/{name}/offer', {
    params: { path: packagePath(visit), query },
  })
  return data
}

/** The version and the price are those that were shown. */
async function placeOrder(visit: Visit, account: string): Promise<Order | undefined> {
  const { form } = visit
  const { scope, name } = packagePath(visit)
  const version = form.get('version')
  const priceId = form.get('price_id')
  const { data } = await visit.api.POST('/v1/orders', {
    params: { header: onceHeader(visit) },
    body: {
      package: `${scope}/${name}`,
      range: version === '' ? undefined : version,
      expected_price: {
        id: priceId === '' ? undefined : priceId,
        amount_minor: Number(form.get('price_minor') || '-1'),
      },
      pay_with: payWith(visit),
      account: accountField(account),
    },
  })
  return data
}

function payWith({ form }: Visit): 'balance' | 'provider' {
  return form.get('pay_with') === 'provider' ? 'provider' : 'balance'
}
