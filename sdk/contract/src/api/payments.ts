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
    /** What can be spent now. */
    available_minor: sum,
    /** Held for runs that have not ended. */
    held_minor: sum,
    /** Top-ups that the provider has not confirmed. */
    awaited_minor: sum,
  })
  .meta({ id: 'Balance' })
export type Balance = z.infer<typeof balanceSchema>

export const topUpRequestSchema = z.strictObject({
  amount_minor: amountMinorSchema,
  account: accountField,
  /** The provider `test` only: what becomes of the payment. */
  test_outcome: z.enum(['succeeds', 'declined', 'pending', 'disputed']).optional(),
})

/** Money that comes in, for a balance or for an order. */
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
    /** Where to pay; null once it has ended. */
    checkout_url: z.string().nullable(),
    /** Of a payment that failed: why, in the provider's words. */
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
    /** Sales before fee and royalties, what was given back not taken off. */
    sales_minor: sum,
    fees_minor: sum,
    /** Of others' agents trained on this account's scenarios. */
    royalties_earned_minor: sum,
    /** To the authors of scenarios that this account's agents were trained on. */
    royalties_paid_minor: sum,
    refunds_minor: sum,
    paid_out_minor: sum,
    /** Earned and not paid out; of it, `cleared_minor` is older than the hold and may be paid out. */
    balance_minor: sum,
    cleared_minor: sum,
    held_minor: sum,
    /** Owed after a chargeback; later sales go to it first. */
    debt_minor: sum,
  })
  .meta({ id: 'Earnings' })
export type Earnings = z.infer<typeof earningsSchema>

/** One line of the earnings: money in is positive. */
export const earningsEntrySchema = z.object({
  id: z.uuid(),
  at: moment,
  kind: z.enum(['sale', 'royalty', 'refund', 'chargeback', 'calls', 'payout', 'payout_returned', 'debt_repaid']),
  package: z.string().nullable(),
  order: z.uuid().nullable(),
  /** What the buyer paid or got back. */
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
/** The last days, each of them, oldest first; a day is one of UTC. */
export const earningsDaysSchema = z
  .object({
    account: z.string(),
    currency: currencySchema,
    days: z.array(
      z.object({
        day: z.iso.date(),
        /** Orders that were paid. */
        orders: sum,
        /** What buyers paid for them, and for calls. */
        sales_minor: sum,
        /** What was earned and lost on that day: sales and royalties less fees, refunds and chargebacks. Not payouts. */
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
    /** Whether payouts can go there now. */
    ready: z.boolean(),
    /** Where the seller completes the provider's form; null where there is nothing to do. */
    onboarding_url: z.string().nullable(),
  })
  .meta({ id: 'PayoutDestination' })
export const putPayoutDestinationRequestSchema = z.strictObject({ account: accountField })

export const payoutRequestSchema = z.strictObject({
  amount_minor: amountMinorSchema.optional().describe('All that has cleared unless told.'),
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

/** Hosted calls of paid agents, told by whoever serves them. An event counts once, however often it is told. */
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

/** May that account call it now: its own, bought, or within the trial. Asked by whoever serves it. */
export const callAllowanceRequestSchema = z.object({
  package: z.string().min(3).max(214),
  version: line(z.string().max(64)),
  account: line(z.string().min(1).max(100)),
  call: z
    .uuid()
    .optional()
    .describe(
      'The call itself, by the id of its usage event. Where it is a trial it is counted at once, so that calls at the same moment never come to more than the trial has; the event is then a repetition. Without it nothing is counted.',
    ),
})
export const callAllowanceSchema = z
  .object({
    allowed: z.boolean(),
    because: z.enum(['own', 'free', 'bought', 'trial', 'trial_used_up', 'not_bought', 'balance_empty']),
    /** Null where it is not a trial. */
    trial_calls_left: sum.nullable(),
  })
  .meta({ id: 'CallAllowance' })
