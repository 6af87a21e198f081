import { type EarningsDays, formatAmount } from '@agentgym/contract'
import { Table } from '../../components/table.tsx'
import { Amount } from './amount.tsx'

const height = 120
const step = 10
const bar = 7

/** Sales of each of the last days, as bars; the same figures as a table for whoever opens it. */
export function SalesChart({ earned: { days, currency } }: { earned: EarningsDays }) {
  const most = Math.max(...days.map(({ sales_minor: sales }) => sales))
  const orders = days.reduce((sum, day) => sum + day.orders, 0)
  const total = days.reduce((sum, { sales_minor: sales }) => sum + sales, 0)
  const [first, last] = [days.at(0)?.day ?? '', days.at(-1)?.day ?? '']
  const said = `${formatAmount(total, currency)} in ${orders} ${orders === 1 ? 'order' : 'orders'} from ${first} to ${last}`
  if (most === 0) return <p class="dim">No sales in the last {days.length} days.</p>
  return (
    <figure class="sales-chart">
      <figcaption>
        <span>{said}</span>
        <span class="dim">at most {formatAmount(most, currency)} a day</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${days.length * step} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Sales by day: ${said}`}
      >
        {days.map(({ day, sales_minor: sales }, index) => {
          const tall = Math.max(sales === 0 ? 1 : 2, Math.round((sales / most) * height))
          return (
            <rect
              class={sales === 0 ? 'sales-chart-none' : 'sales-chart-day'}
              x={index * step}
              y={height - tall}
              width={bar}
              height={tall}
            >
              <title>{`${day}: ${formatAmount(sales, currency)}`}</title>
            </rect>
          )
        })}
      </svg>
      <p class="sales-chart-ends" aria-hidden="true">
        <span>{first}</span>
        <span>{last}</span>
      </p>
      <details class="sales-chart-table">
        <summary>As a table</summary>
        <Table
          caption="Sales by day"
          rows={days.filter((day) => day.orders > 0 || day.sales_minor !== 0 || day.net_minor !== 0).reverse()}
          columns={[
            { title: 'Day', heading: true, cell: ({ day }) => <time datetime={day}>{day}</time> },
            { title: 'Orders', numeric: true, cell: (day) => day.orders },
            { title: 'Sales', numeric: true, cell: (day) => <Amount minor={day.sales_minor} currency={currency} /> },
            { title: 'Earned', numeric: true, cell: (day) => <Amount minor={day.net_minor} currency={currency} /> },
          ]}
        />
      </details>
    </figure>
  )
}
