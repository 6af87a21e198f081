import { sql } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import { inBackground } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { lockOrder } from './order-state.ts'
import { reverseSale } from './reverse-sale.ts'
import { tellBuyer } from './tell-buyer.ts'

type Refunds = {
  /** The version that was bought, or all of a package's. */
  of: { versionId: string } | { packageId: string }
  /** For the buyers to read. */
  reason: string
  /** Orders that were paid before are left alone. */
  since?: Date
}

/**
 * Gives everybody their money back who bought that version or package and has not had all of it back, without being asked:
 * its claims turned out false, or it was taken down. One transaction an order: cut off, it is called again and goes on.
 * Resolves to how many were refunded.
 */
export async function refundOrdersOf(
  services: Pick<Services, 'database' | 'mail' | 'log' | 'config'>,
  { of, reason, since }: Refunds,
): Promise<number> {
  const { database } = services
  const which = 'versionId' in of ? sql`version_id = ${of.versionId}` : sql`package_id = ${of.packageId}`
  const { rows } = await sql<{ id: string }>`
    select id from orders where ${which} and state = 'paid' and refunded_minor < total_minor
      and (${since ?? null}::timestamptz is null or paid_at >= ${since ?? null}::timestamptz)
    order by paid_at, id`.execute(database.query)
  let refunded = 0
  for (const { id } of rows) {
    const given = await database.transaction(async (query) => {
      const order = await lockOrder(query, id)
      if (order?.state !== 'paid') return undefined
      const amountMinor = order.total_minor - order.refunded_minor
      await reverseSale(query, order, { kind: 'refund', amountMinor: BigInt(amountMinor), reason, givenBy: null })
      await recordAudit(query, {
        ...{ actor: null, ip: null, action: 'order.refund', subject: `order:${id}` },
        data: { amount_minor: amountMinor, currency: order.currency, reason, by: 'agentgym' },
      })
      return { amountMinor, currency: order.currency }
    })
    if (given === undefined) continue
    refunded++
    inBackground(services.log, 'telling a buyer of a refund', () => tellBuyer(services, id, { ...given, reason }))
  }
  return refunded
}
