import { z } from 'zod'
import { amountMinorSchema, currencySchema } from '../amounts.ts'
import { accountField, line, pageFields } from './fields.ts'

const moment = z.iso.datetime()
const sum = z.int().nonnegative()

export const balanceRequestSchema = z.object({ account: accountField })

export const balanceSchema = z
  .object({
    account: z.string(),
    currency: currencySchema,
    /** Available to spend. */
    available_minor: sum,
    /** Held for runs and their orders, and for hosted calls that are not posted yet. Part of the balance, but not available. */
    held_minor: sum,
    /** Top-ups not yet confirmed by the payment provider. */
    awaited_minor: sum,
    /** What the account trains free of charge on workers with a price. Null if this server never charges for training. */
    training_quota: z
      .object({
        /** Of a month. 0: all training on workers with a price is paid. */
        limit_minor: sum,
        /** Used this month, or reserved for runs in progress. */
        used_minor: sum,
        /** When the next month begins (UTC). */
        resets_at: moment,
      })
      .nullable(),
    /** All money on this server is test money, which is worth nothing. */
    test_money: z.boolean(),
  })
  .meta({ id: 'Balance' })
export type Balance = z.infer<typeof balanceSchema>

export const topUpRequestSchema = z.strictObject({
  amount_minor: amountMinorSchema,
  account: accountField,
  /** Provider `test` only: the outcome to simulate. */
  test_outcome: z.enum(['succeeds', 'declined', 'pending', 'disputed']).optional(),
})

/** An incoming payment, for a balance or an order. */
export const paymentSchema = z
  .object({
    id: z.uuid(),
    purpose: z.enum(['top_up', 'order']),
    state: z.enum(['pending', 'succeeded', 'failed', 'expired', 'disputed']),
    provider: z.string(),
    account: z.string(),
    order: z.uuid().nullable(),
    amount_minor: sum,
    currency: currencySchema,
    /** Payment page; null once the payment has ended. */
    checkout_url: z.string().nullable(),
    /** Failed payments: the provider's explanation. */
    message: z.string().nullable(),
    created_at: moment,
    ended_at: moment.nullable(),
  })
  .meta({ id: 'Payment' })
export type Payment = z.infer<typeof paymentSchema>

export const paymentListRequestSchema = z.object({ account: accountField, ...pageFields })
export const paymentListSchema = z
  .object({ payments: z.array(paymentSchema), next_cursor: z.string().nullable() })
  .meta({ id: 'PaymentList' })

export const webhookReceivedSchema = z.object({ received: z.literal(true) })

export const earningsRequestSchema = z.object({ account: accountField })

export const earningsSchema = z
  .object({
    account: z.string(),
    currency: currencySchema,
    /** Sales, hosted calls and, for the operator, training, before fees, royalties and refunds. */
    sales_minor: sum,
    fees_minor: sum,
    /** From sales of others' agents trained on this account's scenarios. */
    royalties_earned_minor: sum,
    /** To authors of the scenarios this account's agents were trained on. */
    royalties_paid_minor: sum,
    refunds_minor: sum,
    paid_out_minor: sum,
    /** Earned and not paid out. `cleared_minor` of it is past the hold and can be paid out. */
    balance_minor: sum,
    cleared_minor: sum,
    held_minor: sum,
    /** Owed after a chargeback; deducted from later sales first. */
    debt_minor: sum,
  })
  .meta({ id: 'Earnings' })
export type Earnings = z.infer<typeof earningsSchema>

/** An entry of the earnings; income is positive. */
export const earningsEntrySchema = z.object({
  id: z.uuid(),
  at: moment,
  kind: z.enum([
    'sale',
    'royalty',
    'refund',
    'chargeback',
    'calls',
    'training',
    'payout',
    'payout_returned',
    'debt_repaid',
  ]),
  package: z.string().nullable(),
  order: z.uuid().nullable(),
  /** Paid by or refunded to the buyer. */
  gross_minor: z.int(),
  fee_minor: z.int(),
  royalty_minor: z.int(),
  net_minor: z.int(),
  currency: currencySchema,
})
export const earningsEntriesRequestSchema = z.object({ account: accountField, ...pageFields })
export const earningsEntriesSchema = z
  .object({ entries: z.array(earningsEntrySchema), next_cursor: z.string().nullable() })
  .meta({ id: 'EarningsEntries' })
export type EarningsEntry = z.infer<typeof earningsEntrySchema>

export const earningsDaysRequestSchema = z.object({
  account: accountField,
  days: z.coerce.number().int().min(1).max(366).default(30),
})
/** One entry per UTC day, oldest first. */
export const earningsDaysSchema = z
  .object({
    account: z.string(),
    currency: currencySchema,
    days: z.array(
      z.object({
        day: z.iso.date(),
        /** Paid orders. */
        orders: sum,
        /** Paid for orders and calls. */
        sales_minor: sum,
        /** Sales and royalties minus fees, refunds and chargebacks. Payouts are not included. */
        net_minor: z.int(),
      }),
    ),
  })
  .meta({ id: 'EarningsDays' })
export type EarningsDays = z.infer<typeof earningsDaysSchema>

export const payoutDestinationSchema = z
  .object({
    account: z.string(),
    provider: z.string(),
    /** Whether payouts are possible now. */
    ready: z.boolean(),
    /** The provider's onboarding form; null if nothing is left to do. */
    onboarding_url: z.string().nullable(),
  })
  .meta({ id: 'PayoutDestination' })
export const putPayoutDestinationRequestSchema = z.strictObject({ account: accountField })

export const payoutRequestSchema = z.strictObject({
  amount_minor: amountMinorSchema.optional().describe('Default: everything that has cleared.'),
  account: accountField,
})
export const payoutSchema = z
  .object({
    id: z.uuid(),
    account: z.string(),
    state: z.enum(['pending', 'paid', 'failed']),
    amount_minor: sum,
    currency: currencySchema,
    message: z.string().nullable(),
    created_at: moment,
    ended_at: moment.nullable(),
  })
  .meta({ id: 'Payout' })
export type Payout = z.infer<typeof payoutSchema>
export const payoutListRequestSchema = z.object({ account: accountField, ...pageFields })
export const payoutListSchema = z
  .object({ payouts: z.array(payoutSchema), next_cursor: z.string().nullable() })
  .meta({ id: 'PayoutList' })

/** Hosted calls of paid agents, reported by the host. An event counts once, however often it is reported. */
export const usageEventsRequestSchema = z.strictObject({
  events: z
    .array(
      z.strictObject({
        id: z.uuid(),
        package: z.string().min(3).max(214),
        version: line(z.string().max(64)),
        /** Account that called. */
        account: line(z.string().min(1).max(100)),
        calls: z.int().min(1).max(1_000_000),
        at: moment,
      }),
    )
    .min(1)
    .max(1_000),
})
export const usageAcceptedSchema = z.object({ counted: sum, repeated: sum }).meta({ id: 'UsageAccepted' })

/** Whether an account may call an agent now: its own, bought, or within the trial. Requested by the host. */
export const callAllowanceRequestSchema = z.object({
  package: z.string().min(3).max(214),
  version: line(z.string().max(64)),
  account: line(z.string().min(1).max(100)),
  max_price_minor: sum.optional().describe('The highest price of 1,000 calls that the caller accepts.'),
  call: z
    .uuid()
    .optional()
    .describe(
      'Id of the call, the same as in its usage event. If the call is allowed it is counted immediately, and its price is held, so concurrent calls cannot exceed the trial or the balance; its usage event then counts as a repetition. Without an id nothing is counted or held, and the answer promises nothing.',
    ),
})
export const callAllowanceSchema = z
  .object({
    allowed: z.boolean(),
    because: z.enum(['own', 'free', 'bought', 'trial', 'trial_used_up', 'not_bought', 'balance_empty']),
    /** Null unless the call is a trial call. */
    trial_calls_left: sum.nullable(),
  })
  .meta({ id: 'CallAllowance' })
