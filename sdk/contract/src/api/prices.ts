import { z } from 'zod'
import { evaluationSchema } from '../agent-manifest.ts'
import { amountMinorSchema, currencySchema } from '../amounts.ts'
import { line } from './fields.ts'

const moment = z.iso.datetime()
const sum = z.int().nonnegative()

/**
 * `free`; `one_time`: a license for all versions of a major; `per_run`: a hosted-only scenario, paid per training run,
 * whose tarball cannot be downloaded.
 */
export const priceKindSchema = z.enum(['free', 'one_time', 'per_run'])
export type PriceKind = z.infer<typeof priceKindSchema>

/** A price, effective from `effective_at` until the next one takes effect. */
export const priceSchema = z
  .object({
    /** Orders refer to it, so that buyers pay the price they saw. */
    id: z.uuid(),
    kind: priceKindSchema,
    /** 0 for `free`. */
    amount_minor: sum,
    currency: currencySchema,
    effective_at: moment,
    created_at: moment,
  })
  .meta({ id: 'Price' })
export type Price = z.infer<typeof priceSchema>

/** The price that was shown. If it has changed, the request fails with `price_changed` and nothing is bought. */
export const expectedPriceSchema = z.strictObject({ id: z.uuid().optional(), amount_minor: sum })
export type ExpectedPrice = z.infer<typeof expectedPriceSchema>

/** The seller's terms besides the price. */
const saleTermsFields = {
  /** Scenarios: the author's share of each sale of an agent trained on it, in basis points (1/100 of a percent). */
  royalty_basis_points: z.int().min(0).max(10_000),
  /** Agents: free hosted calls per account. */
  trial_calls: z.int().min(0).max(100_000),
  /** Agents: price of 1,000 hosted calls; 0 if the license includes them. */
  calls_price_minor: z.int().min(0).max(1e12),
  /** License terms for buyers, in addition to the license in package.json. */
  terms: z.string().max(10_000),
}

export const pricePageSchema = z
  .object({
    package: z.string(),
    current: priceSchema,
    /** An increase takes effect after the notice period; null if none is announced. */
    upcoming: z.union([priceSchema, z.null()]),
    /** All past and current prices, newest first. */
    history: z.array(priceSchema),
    ...saleTermsFields,
    /** Higher royalties and call prices and fewer trial calls, effective after the notice period; null if none are announced. */
    upcoming_terms: z
      .object({
        royalty_basis_points: saleTermsFields.royalty_basis_points,
        calls_price_minor: saleTermsFields.calls_price_minor,
        trial_calls: saleTermsFields.trial_calls,
        effective_at: moment,
      })
      .nullable(),
  })
  .meta({ id: 'PricePage' })
export type PricePage = z.infer<typeof pricePageSchema>

/** Omitted terms stay unchanged. */
export const setPriceRequestSchema = z.strictObject({
  kind: priceKindSchema,
  amount_minor: amountMinorSchema.optional().describe('In minor units of the server’s currency. Omit for `free`.'),
  royalty_basis_points: saleTermsFields.royalty_basis_points.optional(),
  trial_calls: saleTermsFields.trial_calls.optional(),
  calls_price_minor: saleTermsFields.calls_price_minor.optional(),
  terms: saleTermsFields.terms.optional(),
})
export type SetPriceRequest = z.infer<typeof setPriceRequestSchema>

export const offerRequestSchema = z.object({
  range: z.string().max(200).optional().describe('A version, range or tag. Default: `latest`.'),
  account: line(z.string().max(100)).optional().describe('Organization to buy for. Default: your own account.'),
})

/** What a purchase would cost and include, before it is confirmed. */
export const offerSchema = z
  .object({
    package: z.string(),
    kind: z.enum(['scenario', 'agent']),
    title: z.string().nullable(),
    seller: z.string(),
    version: z.string(),
    /** Versions that a one-time license covers: `1.x`. */
    covers: z.string(),
    price: priceSchema,
    upcoming: z.union([priceSchema, z.null()]),
    /** Total price. */
    total_minor: sum,
    /** SPDX, of the version's package.json. */
    license: z.string().nullable(),
    terms: z.string(),
    trial_calls: sum,
    calls_price_minor: sum,
    /** Whether the buyer can use it already: their own, free, or bought. */
    entitled: z.boolean(),
    /** Null for anonymous callers. */
    balance_minor: z.int().nullable(),
    /** All money on this server is test money, which is worth nothing. */
    test_money: z.boolean(),
    /** Agents: state of the verification, and the command that repeats it. */
    verification: z
      .object({
        state: z.string(),
        return_mean: z.number().nullable(),
        /** Held-out results against the scenario's targets; null until it is verified. Absent in older servers. */
        outcome: evaluationSchema.shape.success.nullable().optional(),
        command: z.string(),
      })
      .nullable(),
    /** Address of the package's page. */
    page: z.string(),
  })
  .meta({ id: 'Offer' })
export type Offer = z.infer<typeof offerSchema>
