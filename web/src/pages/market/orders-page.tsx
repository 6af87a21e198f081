import type { Order } from '@agentgym/contract'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { packageAddress } from '../../components/package-address.ts'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { Amount } from './amount.tsx'
import { MarketFrame } from './market-frame.tsx'
import { OlderLink } from './older-link.tsx'
import { OrderState } from './order-state.tsx'

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

export function OrdersPage({ role, orders, next, account, first }: OrdersPageProps) {
  const { path, title, role: needed } = heads[role]
  return (
    <MarketFrame title={title} path={path} account={account} needs={needed} all>
      {orders.length > 0 ? (
        <Table rows={orders} columns={columnsOf(role)} caption={title} />
      ) : role === 'purchases' ? (
        <EmptyState title={first ? 'Nothing bought yet' : 'No older orders'}>
          Each purchase stands here with its receipt.
          <Button href="/packages?sort=quality">Browse packages</Button>
        </EmptyState>
      ) : (
        <EmptyState title={first ? 'Nothing sold yet' : 'No older orders'} command="agentgym price @you/package 25">
          Each sale of your packages stands here once they have a price.
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
          <span class="dim">{order.price_kind === 'per_run' ? 'one run' : order.covers}</span>
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

/** The first characters of an order's id, which lead to its receipt. */
export function OrderLink({ id }: { id: string }) {
  return (
    <a class="mono" href={`/orders/${id}`}>
      {id.slice(0, 8)}
    </a>
  )
}
