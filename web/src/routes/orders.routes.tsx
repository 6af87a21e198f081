import type { Order } from '@agentgym/contract'
import { attempt } from '../app/form-failure.ts'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { accountField } from '../pages/market/accounts-of.ts'
import { optionalFormAmount } from '../pages/market/form-amount.ts'
import { LicencesPage } from '../pages/market/licences-page.tsx'
import { onceHeader } from '../pages/market/once-key.tsx'
import { OrderPage } from '../pages/market/order-page.tsx'
import { OrdersPage } from '../pages/market/orders-page.tsx'
import { RefundPage } from '../pages/market/refund-page.tsx'

export const orderRoutes = [
  route('get', '/orders', { access: 'account' }, (visit) => ordersPage(visit, 'purchases')),
  route('get', '/sales', { access: 'account' }, (visit) => ordersPage(visit, 'sales')),

  route('get', '/licences', { access: 'account' }, async (visit) => {
    const account = visit.query.get('account') ?? ''
    const { data } = await visit.api.GET('/v1/entitlements', { params: { query: pageOf(visit) } })
    const list = data ?? { entitlements: [], next_cursor: null }
    return visit.page(<LicencesPage list={list} account={account} />, { title: 'Licences', hidden: true })
  }),

  route('get', '/orders/:id', { access: 'account' }, async (visit) => orderPage(visit, await readOrder(visit))),

  route('post', '/orders/:id/cancel', { access: 'account' }, async (visit) => {
    const { id } = visit.params
    const failure = await attempt(() => visit.api.POST('/v1/orders/{id}/cancel', { params: { path: { id } } }))
    if (failure === null) return visit.redirect(`/orders/${id}`)
    const page = <OrderPage order={await readOrder(visit)} failure={failure} />
    return visit.page(page, { ...receiptOf(id), status: failure.status })
  }),

  route('get', '/orders/:id/refund', { access: 'account' }, async (visit) =>
    visit.page(<RefundPage order={await readOrder(visit)} values={visit.form} />, refundFrame),
  ),

  route('post', '/orders/:id/refund', { access: 'account' }, async (visit) => {
    const { form, params } = visit
    const order = await readOrder(visit)
    const failure = await attempt(() =>
      visit.api.POST('/v1/orders/{id}/refunds', {
        params: { path: { id: params.id }, header: onceHeader(visit) },
        body: {
          amount_minor: optionalFormAmount(form, 'amount_minor', order.currency),
          reason: form.get('reason').trim(),
        },
      }),
    )
    if (failure === null) return visit.redirect(`/orders/${params.id}`)
    const page = <RefundPage order={await readOrder(visit)} values={form} failure={failure} />
    return visit.page(page, { ...refundFrame, status: failure.status })
  }),
]

const refundFrame = { title: 'Refund', frame: 'plain', hidden: true } as const
const receiptOf = (id: string) => ({ title: `Order ${id.slice(0, 8)}`, hidden: true })

async function ordersPage(visit: Visit, role: 'purchases' | 'sales'): Promise<Response> {
  const { account, ...page } = pageOf(visit)
  const { data } = await visit.api.GET('/v1/orders', { params: { query: { role, account, ...page } } })
  const drawn = (
    <OrdersPage
      role={role}
      orders={data?.orders ?? []}
      next={data?.next_cursor ?? null}
      account={account ?? ''}
      first={page.cursor === undefined}
    />
  )
  return visit.page(drawn, { title: role === 'sales' ? 'Sales' : 'Purchases', hidden: true })
}

function orderPage(visit: Visit, order: Order): Response {
  return visit.page(<OrderPage order={order} />, receiptOf(order.id))
}

/** Throws `order_not_found`, the same for others' orders. */
async function readOrder({ api, params: { id } }: Visit): Promise<Order> {
  const { data } = await api.GET('/v1/orders/{id}', { params: { path: { id } } })
  return data
}

function pageOf({ query }: Visit) {
  return { account: accountField(query.get('account') ?? ''), cursor: query.get('cursor') ?? undefined, limit: 50 }
}
