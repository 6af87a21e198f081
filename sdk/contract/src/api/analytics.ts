import { z } from 'zod'

/** The query of `GET /v1/packages/@scope/name/analytics`. */
export const packageAnalyticsRequestSchema = z.object({
  days: z.coerce.number().int().min(1).max(400).default(30).describe('The last days in UTC, today included.'),
})

const count = z.int().nonnegative()

/** Views, trials, sales and refunds of a package. */
export const packageAnalyticsSchema = z
  .object({
    name: z.string(),
    /** First and last day (UTC). */
    from: z.iso.date(),
    to: z.iso.date(),
    /** Views are kept for as many days. */
    retention_days: count,
    /** By day, oldest first, version and source; only those with a count. */
    rows: z.array(
      z.object({
        day: z.iso.date(),
        version: z.string(),
        /** How the visitor came: from a search, from lists and other pages, from elsewhere, by the command; or not known. */
        source: z.enum(['search', 'browse', 'link', 'command', 'other']),
        /** Each client once a day. */
        views: count,
        /** Trial calls of the hosted agent. */
        trials: count,
        /** Paid orders, and refunds and chargebacks of orders. */
        sales: count,
        refunds: count,
      }),
    ),
  })
  .meta({ id: 'PackageAnalytics' })
export type PackageAnalytics = z.infer<typeof packageAnalyticsSchema>
