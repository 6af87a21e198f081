import { z } from 'zod'
import { priceKindSchema } from './prices.ts'

const moment = z.iso.datetime()
const minor = z.int().nonnegative()
const subject = { package: z.string() }
const versioned = { ...subject, version: z.string() }

/** The state that a run ended in; `paused` and `budget_exceeded` can be resumed. */
const endedStateSchema = z.enum(['completed', 'failed', 'cancelled', 'budget_exceeded', 'paused'])

/** What happened to an account, by type: the fields of `data`. */
export const eventDataSchemas = {
  'run.ended': z.object({
    run: z.uuid(),
    state: endedStateSchema,
    scenario: z.string(),
    /** Of a failed run. */
    error: z.string().nullable(),
    /** `@acme/solver@1.0.0`, if the run published its agent. */
    published: z.string().nullable(),
  }),
  'verification.ended': z.object({
    ...versioned,
    state: z.enum(['verified', 'mismatch', 'failed', 'unavailable', 'inconclusive']),
    /** The reason; null if verified. */
    message: z.string().nullable(),
  }),
  'order.paid': z.object({
    ...versioned,
    order: z.uuid(),
    buyer: z.string(),
    total_minor: minor,
    /** The seller's part. */
    earned_minor: minor,
    currency: z.string(),
  }),
  'review.written': z.object({ ...versioned, review: z.uuid(), author: z.string(), stars: z.int().min(1).max(5) }),
  'price.announced': z.object({
    ...subject,
    /** Null if the price stays and the terms of hosted calls change. */
    price: z.object({ kind: priceKindSchema, amount_minor: minor, currency: z.string() }).nullable(),
    /** Price of 1,000 hosted calls; null if it stays. */
    calls_price_minor: minor.nullable(),
    currency: z.string(),
    effective_at: moment,
  }),
  'package.taken_down': z.object({ ...subject, reason: z.string(), for_all: z.boolean() }),
  'package.restored': z.object({ ...subject, reason: z.string() }),
  /** `about` is absent for packages. */
  'appeal.dismissed': z.object({ ...subject, about: z.enum(['review', 'episode']).optional(), reason: z.string() }),
  'appeal.upheld': z.object({ ...subject, about: z.enum(['review', 'episode']), reason: z.string() }),
  'review.hidden': z.object({ ...versioned, review: z.uuid(), reason: z.string() }),
  'demonstration.removed': z.object({ ...versioned, reason: z.string() }),
  'report.decided': z.object({
    ...subject,
    report: z.uuid(),
    decision: z.enum(['upheld', 'dismissed']),
    reason: z.string(),
  }),
  'webhook.disabled': z.object({ webhook: z.uuid(), account: z.string(), url: z.string(), reason: z.string() }),
  /** Sent on request to one webhook, without notifications. */
  'webhook.test': z.object({ webhook: z.uuid() }),
} as const

export type EventType = keyof typeof eventDataSchemas
export type EventData = { [Type in EventType]: z.infer<(typeof eventDataSchemas)[Type]> }
export const eventTypeSchema = z.enum(Object.keys(eventDataSchemas) as [EventType, ...EventType[]])
