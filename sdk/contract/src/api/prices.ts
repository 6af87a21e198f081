import { z } from 'zod'
import { amountMinorSchema, currencySchema } from '../amounts.ts'
import { line } from './fields.ts'

const moment = z.iso.datetime()
const sum = z.int().nonnegative()

/**
 * `free`; `one_time`: a licence for all versions of a major; `per_run`: a hosted-only scenario, paid for every training
 * run, whose tarball is never handed out.
 */
export const priceKindSchema = z.enum(['free', 'one_time', 'per_run'])
export type PriceKind = z.infer<typeof priceKindSchema>

/** What holds from `effective_at` on, until the next one does. */
export const priceSchema = z
  .object({
    /** What an order names, so that nobody pays another price than the one they saw. */
    id: z.uuid(),
    kind: priceKindSchema,
    /** 0 where it is free. */
    amount_minor: sum,
    currency: currencySchema,
    effective_at: moment,
    created_at: moment,
  })
  .meta({ id: 'Price' })
export type Price = z.infer<typeof priceSchema>

/** The price that somebody was shown: another one is `price_changed`, and nothing is bought. */
export const expectedPriceSchema = z.strictObject({ id: z.uuid().optional(), amount_minor: sum })
export type ExpectedPrice = z.infer<typeof expectedPriceSchema>

/** What a seller says beside the price. */
const saleTermsFields = {
  /** Scenarios: what the author gets of every sale of an agent trained on a version of it, in hundredths of a per cent. */
  royalty_basis_points: z.int().min(0).max(10_000),
  /** Agents: hosted calls that each account may make before it buys. */
  trial_calls: z.int().min(0).max(100_000),
  /** Agents: price of 1,000 hosted calls; 0 where they cost nothing beyond the licence. */
  calls_price_minor: z.int().min(0).max(1e12),
  /** What a buyer may do with it, in words; the licence of package.json holds beside it. */
  terms: z.string().max(10_000),
}

export const pricePageSchema = z
  .object({
    package: z.string(),
    current: priceSchema,
    /** A raise takes effect after the notice period; null where none is announced. */
    upcoming: z.union([priceSchema, z.null()]),
    /** All that ever held, newest first. */
    history: z.array(priceSchema),
    ...saleTermsFields,
    /** Higher royalties, dearer calls: they take effect after the notice period, too. Null where none are announced. */
    upcoming_terms: z
      .object({
        royalty_basis_points: saleTermsFields.royalty_basis_points,
        calls_price_minor: saleTermsFields.calls_price_minor,
        effective_at: moment,
      })
      .nullable(),
  })
  .meta({ id: 'PricePage' })
export type PricePage = z.infer<typeof pricePageSchema>

/** What is left out of the terms stays as it is. */
export const setPriceRequestSchema = z.strictObject({
  kind: priceKindSchema,
  amount_minor: amountMinorSchema
    .optional()
    .describe('In minor units of the server’s currency; left out where it is free.'),
  royalty_basis_points: saleTermsFields.royalty_basis_points.optional(),
  trial_calls: saleTermsFields.trial_calls.optional(),
  calls_price_minor: saleTermsFields.calls_price_minor.optional(),
  terms: saleTermsFields.terms.optional(),
})
export type SetPriceRequest = z.infer<typeof setPriceRequestSchema>

export const offerRequestSchema = z.object({
  range: z.string().max(200).optional().describe('A version, range or tag; `latest` unless told.'),
  account: line(z.string().max(100)).optional().describe('Organisation to buy for; you yourself unless told.'),
})

/** What somebody would buy, before they confirm. */
export const offerSchema = z
  .object({
    package: z.string(),
    kind: z.enum(['scenario', 'agent']),
    title: z.string().nullable(),
    seller: z.string(),
    version: z.string(),
    /** The versions that a one-time licence covers: `1.x`. */
    covers: z.string(),
    price: priceSchema,
    upcoming: z.union([priceSchema, z.null()]),
    /** What is paid, all in. */
    total_minor: sum,
    /** SPDX, of the version's package.json. */
    license: z.string().nullable(),
    terms: z.string(),
    trial_calls: sum,
    calls_price_minor: sum,
    /** True where the buyer may use it already: their own, free, or bought. */
    entitled: z.boolean(),
    /** Null for strangers. */
    balance_minor: z.int().nullable(),
    /** Agents: state of the marketplace's own run of it, and the command that runs it again. */
    verification: z.object({ state: z.string(), return_mean: z.number().nullable(), command: z.string() }).nullable(),
    /** Address of the package's page. */
    page: z.string(),
  })
  .meta({ id: 'Offer' })
export type Offer = z.infer<typeof offerSchema>
