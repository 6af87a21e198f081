import type { entitlementListSchema, Order } from '@agentgym/contract'
import type { z } from 'zod'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/controls.tsx'
import { EmptyState } from '../../components/messages.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Amount, Time } from '../../components/values.tsx'
import { accountField } from '../../session/accounts.ts'
import { MarketFrame, OlderLink } from './market-frame.tsx'
import { OrderState } from './order.tsx'

export const orderListRoutes = [
  route('get', '/orders', { access: 'account' }, (visit) => ordersPage(visit, 'purchases')),
  route('get', '/sales', { access: 'account' }, (visit) => ordersPage(visit, 'sales')),

  route('get', '/licences', { access: 'account' }, async (visit) => {
    const account = visit.query.get('account') ?? ''
    const { data } = await visit.api.GET('/v1/entitlements', { params: { query: pageOf(visit) } })
    return visit.page(<LicensesPage list={data} account={account} />, { title: 'Licenses', hidden: true })
  }),
]

async function ordersPage(visit: Visit, role: 'purchases' | 'sales'): Promise<Response> {
  const { account, ...page } = pageOf(visit)
  const { data } = await visit.api.GET('/v1/orders', { params: { query: { role, account, ...page } } })
  const drawn = (
    <OrdersPage
      role={role}
      orders={data.orders}
      next={data.next_cursor}
      account={account ?? ''}
      first={page.cursor === undefined}
    />
  )
  return visit.page(drawn, { title: role === 'sales' ? 'Sales' : 'Purchases', hidden: true })
}

function pageOf({ query }: Visit) {
  return { account: accountField(query.get('account') ?? ''), cursor: query.get('cursor') ?? undefined, limit: 50 }
}

type OrdersPageProps = {
  role: 'purchases' | 'sales'
  orders: Order[]
  next: string | null
  account: string
  /** Whether it is the page with the newest. */
  first: boolean
}

const heads = {
  purchases: { path: '/orders', title: 'Purchases', role: 'member' },
  sales: { path: '/sales', title: 'Sales', role: 'admin' },
} as const

function OrdersPage({ role, orders, next, account, first }: OrdersPageProps) {
  const { path, title, role: needed } = heads[role]
  return (
    <MarketFrame title={title} path={path} account={account} needs={needed} all>
      {orders.length > 0 ? (
        <Table rows={orders} columns={columnsOf(role)} caption={title} />
      ) : role === 'purchases' ? (
        <EmptyState title={first ? 'No purchases yet' : 'No more orders'}>
          Your orders and receipts appear here.
          <Button href="/packages?sort=quality">Browse packages</Button>
        </EmptyState>
      ) : (
        <EmptyState title={first ? 'No sales yet' : 'No more orders'} command="agentgym price @you/package 25">
          Sales of your packages appear here. Set a price to start selling.
        </EmptyState>
      )}
      <OlderLink path={path} account={account} cursor={next} />
    </MarketFrame>
  )
}

function columnsOf(role: OrdersPageProps['role']): Column<Order>[] {
  return [
    { title: 'Order', heading: true, cell: (order) => <OrderLink id={order.id} /> },
    {
      title: 'Package',
      cell: (order) => (
        <>
          <a href={packageAddress(order.package)}>{order.package}</a>{' '}
          <span class="dim">{order.price_kind === 'per_run' ? '1 run' : order.covers}</span>
        </>
      ),
    },
    { title: 'State', cell: (order) => <OrderState order={order} /> },
    role === 'purchases'
      ? { title: 'Seller', wide: true, cell: (order) => order.seller }
      : { title: 'Buyer', wide: true, cell: (order) => order.buyer },
    { title: 'Ordered', wide: true, cell: (order) => <Time at={order.created_at} /> },
    { title: 'Total', numeric: true, cell: (order) => <Amount minor={order.total_minor} currency={order.currency} /> },
  ]
}

/** A short order id that links to the receipt. */
export function OrderLink({ id }: { id: string }) {
  return (
    <a class="mono" href={`/orders/${id}`}>
      {id.slice(0, 8)}
    </a>
  )
}

type LicensesPageProps = { list: z.infer<typeof entitlementListSchema>; account: string }

/** Licenses of the visitor and their organizations. */
function LicensesPage({ list: { entitlements, next_cursor: next }, account }: LicensesPageProps) {
  return (
    <MarketFrame title="Licenses" path="/licences" account={account} needs="viewer" all>
      {entitlements.length === 0 ? (
        <EmptyState title="No licenses yet" command="agentgym buy @seller/package">
          Packages you buy appear here. Free packages need no license.
        </EmptyState>
      ) : (
        <Table
          caption="Licenses"
          rows={entitlements}
          columns={[
            {
              title: 'Package',
              heading: true,
              cell: (license) => <a href={packageAddress(license.package)}>{license.package}</a>,
            },
            { title: 'Type', wide: true, cell: ({ kind }) => <Badge>{kind}</Badge> },
            { title: 'Versions', cell: ({ covers }) => <span class="mono">{covers}</span> },
            { title: 'Holder', cell: ({ holder }) => holder },
            { title: 'Receipt', cell: ({ order }) => <OrderLink id={order} /> },
            { title: 'Since', wide: true, cell: ({ granted_at: at }) => <Time at={at} /> },
          ]}
        />
      )}
      <OlderLink path="/licences" account={account} cursor={next} />
    </MarketFrame>
  )
}
