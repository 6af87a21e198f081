import type { EarningsDays, earningsDaysRequestSchema } from '@agentgym/contract'
import { sql } from 'kysely'
import type { z } from 'zod'
import type { Actor } from '../../core/access/authorise.ts'
import type { Services } from '../../core/services.ts'
import { findSeller } from './earnings.ts'
import { everyEntry } from './earnings-entries.ts'

type Day = EarningsDays['days'][number]

/**
 * What an account earned on each of the last days, by the entries. For admins of the account. Throws `unauthenticated`,
 * `forbidden`, `account_not_found`.
 */
export async function earningsByDay(
  { database: { query }, config }: Pick<Services, 'database' | 'config'>,
  actor: Actor | null,
  { account, days }: z.output<typeof earningsDaysRequestSchema>,
): Promise<EarningsDays> {
  const { id, username } = await findSeller(query, actor, account)
  const { currency } = config.training
  const today = sql`date_trunc('day', now() at time zone 'UTC')`
  const first = sql`${today} - ${days - 1} * interval '1 day'`
  const { rows } = await sql<Day>`
    select to_char(day, 'YYYY-MM-DD') as day, coalesce(orders, 0)::bigint as orders,
      coalesce(sales_minor, 0)::bigint as sales_minor, coalesce(net_minor, 0)::bigint as net_minor
    from generate_series(${first}, ${today}, interval '1 day') as day
    left join (
      select date_trunc('day', at at time zone 'UTC') as day, count(*) filter (where kind = 'sale') as orders,
        sum(gross_minor) filter (where kind in ('sale', 'calls')) as sales_minor,
        sum(net_minor) filter (where kind in ('sale', 'royalty', 'calls', 'refund', 'chargeback')) as net_minor
      from ${everyEntry(id)}
      where at >= (${first}) at time zone 'UTC' and currency = ${currency}
      group by 1
    ) earned using (day)
    order by day`.execute(query)
  return { account: username, currency, days: rows }
}
