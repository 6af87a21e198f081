import { z } from 'zod'
import { amountMinorSchema, currencySchema } from '../amounts.ts'
import { accountField, line, pageFields } from './fields.ts'
import { expectedPriceSchema } from './prices.ts'

const moment = z.iso.datetime()
const sum = z.int().nonnegative()

/**
 * awaiting_payment → paid | cancelled | expired; paid → refunded | charged_back. Orders paid from the balance are `paid`
 * immediately. A partial refund leaves an order `paid`. All other states are final.
 */
export const orderStateSchema = z.enum(['awaiting_payment', 'paid', 'cancelled', 'expired', 'refunded', 'charged_back'])
export type OrderState = z.infer<typeof orderStateSchema>

export const createOrderRequestSchema = z.strictObject({
  package: z.string().min(3).max(214),
  range: z.string().max(200).optional().describe('A version, range or tag. Default: `latest`.'),
  expected_price: expectedPriceSchema
    .optional()
    .describe(
      'The price shown to the buyer. If it has changed, the request fails with `price_changed` and nothing is bought.',
    ),
  pay_with: z.enum(['balance', 'provider']).default('balance'),
  account: accountField,
})
export type CreateOrderRequest = z.input<typeof createOrderRequestSchema>

export const refundSchema = z.object({
  id: z.uuid(),
  amount_minor: sum,
  reason: z.string(),
  /** Username, or `agentgym` for an automatic refund. */
  by: z.string(),
  created_at: moment,
})

export const orderSchema = z
  .object({
    id: z.uuid(),
    state: orderStateSchema,
    package: z.string(),
    kind: z.enum(['scenario', 'agent']),
    version: z.string(),
    /** Versions the order covers: `1.x`. */
    covers: z.string(),
    price_kind: z.enum(['free', 'one_time', 'per_run']),
    buyer: z.string(),
    /** Username of the member who placed the order. */
    placed_by: z.string(),
    seller: z.string(),
    total_minor: sum,
    refunded_minor: sum,
    currency: currencySchema,
    pay_with: z.enum(['balance', 'provider']),
    /** Payment page; null unless the order awaits payment. */
    checkout_url: z.string().nullable(),
    /** Hosted-only scenarios: the run it pays for. */
    run: z.uuid().nullable(),
    refunds: z.array(refundSchema),
    /** Whether the buyer can request a full refund now, and if not, why. */
    refundable: z.object({ by_buyer: z.boolean(), why: z.string() }),
    created_at: moment,
    paid_at: moment.nullable(),
    ended_at: moment.nullable(),
  })
  .meta({ id: 'Order' })
export type Order = z.infer<typeof orderSchema>

/** `purchases` of the accounts you buy for, or `sales` of packages your accounts own. Newest first. */
export const orderListRequestSchema = z.object({
  role: z.enum(['purchases', 'sales']).default('purchases'),
  state: orderStateSchema.optional(),
  package: z.string().max(214).optional(),
  account: accountField,
  ...pageFields,
})

export const orderListSchema = z
  .object({ orders: z.array(orderSchema), next_cursor: z.string().nullable() })
  .meta({ id: 'OrderList' })

export const refundRequestSchema = z.strictObject({
  amount_minor: amountMinorSchema
    .optional()
    .describe('Default: everything left of the order. Only sellers and operators can refund a part.'),
  reason: line(z.string().min(1).max(500)),
})

export const entitlementSchema = z.object({
  package: z.string(),
  kind: z.enum(['scenario', 'agent']),
  /** `1.x`. */
  covers: z.string(),
  holder: z.string(),
  order: z.uuid(),
  granted_at: moment,
})

export const entitlementListSchema = z
  .object({ entitlements: z.array(entitlementSchema), next_cursor: z.string().nullable() })
  .meta({ id: 'EntitlementList' })
export const entitlementListRequestSchema = z.object({ account: accountField, ...pageFields })

/** Limits what an account or one of its tokens may spend within the period. Refunds do not restore it. */
export const spendCapSchema = z
  .object({
    id: z.uuid(),
    account: z.string(),
    /** Null for the account as a whole. */
    token: z.object({ id: z.string(), name: z.string() }).nullable(),
    /** `calls`: the most that 1,000 hosted calls may cost; nothing is spent of it. */
    period: z.enum(['day', 'month', 'total', 'calls']),
    amount_minor: sum,
    spent_minor: sum,
    /** Of the amounts. Spending in another currency is refused while the cap exists. */
    currency: currencySchema,
  })
  .meta({ id: 'SpendCap' })
export type SpendCap = z.infer<typeof spendCapSchema>

export const putSpendCapRequestSchema = z.strictObject({
  token_id: z.uuid().optional().describe('Limits what this token spends. Default: the whole account.'),
  period: z
    .enum(['day', 'month', 'total', 'calls'])
    .describe(
      '`calls` limits what 1,000 hosted calls may cost. It also confirms their price for requests that give no maximum, such as those of OpenAI clients.',
    ),
  amount_minor: sum.max(1e15),
  account: accountField,
})
export const spendCapListSchema = z.object({ caps: z.array(spendCapSchema) }).meta({ id: 'SpendCapList' })
export const spendCapListRequestSchema = z.object({ account: accountField })
