import { z } from 'zod'
import { line, lines, pageFields } from './fields.ts'

const moment = z.iso.datetime()
const count = z.int().nonnegative()
const text = lines(z.string().trim().min(1).max(5_000))
const reason = lines(z.string().trim().min(1).max(2_000))

export const reviewSchema = z
  .object({
    id: z.uuid(),
    version: z.string(),
    author: z.string(),
    stars: z.int().min(1).max(5),
    text: z.string(),
    reply: z.object({ by: z.string(), text: z.string(), at: moment }).nullable(),
    created_at: moment,
    updated_at: moment,
  })
  .meta({ id: 'Review' })
export type Review = z.infer<typeof reviewSchema>

export const ratingSchema = z.object({
  /** Plain mean of the stars; null without votes. Absent in older servers. */
  mean: z.number().nullable().optional(),
  /** What ranks: weighted towards the mean of all packages while votes are few; null without votes. */
  score: z.number().nullable(),
  votes: count,
  /** Votes of one to five stars. */
  by_stars: z.array(count).length(5),
})

/** A decision of the operators, and the state of its appeal. */
export const decisionSchema = z.object({
  at: moment,
  reason: z.string(),
  /** Null: not appealed. Upheld appeals undo the decision. */
  appeal: z.enum(['open', 'dismissed']).nullable(),
})

export const reviewListRequestSchema = z.object(pageFields)
export const reviewListSchema = z
  .object({
    rating: ratingSchema,
    reviews: z.array(reviewSchema),
    /** The caller's own reviews that operators hid. Absent in older servers. */
    own_hidden: z.array(z.object({ id: z.uuid(), version: z.string(), decision: decisionSchema })).optional(),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: 'ReviewList' })
export type ReviewList = z.infer<typeof reviewListSchema>

export const putReviewRequestSchema = z.strictObject({
  version: line(z.string().max(64)),
  stars: z.int().min(1).max(5),
  text,
})
export const replyRequestSchema = z.strictObject({ text })

export const reportReasonSchema = z.enum(['malicious', 'infringing', 'misleading', 'abusive', 'spam', 'other'])
export const createReportRequestSchema = z.strictObject({
  package: z.string().min(3).max(214),
  review: z.uuid().optional().describe('Report this review instead of the package.'),
  reason: reportReasonSchema,
  text,
})
export const reportSchema = z
  .object({
    id: z.uuid(),
    package: z.string(),
    review: z.uuid().nullable(),
    /** The kept episode whose removal is appealed. Absent in older servers. */
    demonstration: z.uuid().nullable().optional(),
    /** `appeal`: the owner, author or player appeals a decision. */
    reason: z.enum([...reportReasonSchema.options, 'appeal']),
    text: z.string(),
    /** Of an appeal: the reason of the appealed decision, if it is known. Absent in older servers. */
    appealed_reason: z.string().nullable().optional(),
    by: z.string(),
    state: z.enum(['open', 'dismissed', 'upheld']),
    decision: z.object({ by: z.string(), reason: z.string(), at: moment }).nullable(),
    created_at: moment,
  })
  .meta({ id: 'Report' })
export type Report = z.infer<typeof reportSchema>

export const reportListRequestSchema = z.object({
  state: z.enum(['open', 'dismissed', 'upheld']).default('open'),
  ...pageFields,
})
export const reportListSchema = z
  .object({ reports: z.array(reportSchema), next_cursor: z.string().nullable() })
  .meta({ id: 'ReportList' })

/** Upholding a report hides the review or takes the package down; upholding an appeal restores what it is about. */
export const decideReportRequestSchema = z.strictObject({
  decision: z.enum(['dismissed', 'upheld']),
  reason,
})

export const takeDownRequestSchema = z.strictObject({
  reason,
  for_all: z
    .boolean()
    .default(false)
    .describe('The package is malicious: buyers lose access too, and purchases of the last 30 days are refunded.'),
  refund: z.boolean().default(false).describe('Refund purchases of the last 30 days.'),
})
export const restoreRequestSchema = z.strictObject({ reason })
export const appealRequestSchema = z.strictObject({ text })
export const moderationSchema = z
  .object({
    package: z.string(),
    /** `appeal` is absent in older servers. */
    taken_down: decisionSchema.partial({ appeal: true }).nullable(),
    /** Oldest first, as the audit log has them. */
    trail: z.array(z.object({ at: moment, action: z.string(), by: z.string(), reason: z.string() })),
  })
  .meta({ id: 'Moderation' })
