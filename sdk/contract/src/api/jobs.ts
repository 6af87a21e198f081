import { z } from 'zod'
import { checkReportSchema } from '../training-events.ts'

/** What a worker can do; more kinds follow. */
export const jobKindSchema = z.enum(['check'])
export type JobKind = z.infer<typeof jobKindSchema>

export const leaseRequestSchema = z.strictObject({
  /** Kinds of jobs that this worker takes. */
  kinds: z.array(jobKindSchema).min(1).max(8),
})

/** A job, and the right to do it until `expires_at`. */
export const leasedJobSchema = z
  .object({
    id: z.string(),
    kind: jobKindSchema,
    /** Fencing token: stands in every write about this job. Whoever leases the job after us gets another one. */
    lease: z.string(),
    package: z.object({
      name: z.string(),
      version: z.string(),
      /** `sha512-…` (base64) of the tarball; what was downloaded must have it. */
      integrity: z.string(),
      tarball_url: z.string(),
    }),
    expires_at: z.iso.datetime(),
  })
  .meta({ id: 'LeasedJob' })
export type LeasedJob = z.infer<typeof leasedJobSchema>

export const heartbeatRequestSchema = z.strictObject({ lease: z.string().min(1).max(200) })

export const heartbeatSchema = z.object({
  /** The lease holds until then. */
  expires_at: z.iso.datetime(),
})

/** Messages of a stranger's code: capped here, whatever the worker sends. */
const reportSchema = checkReportSchema.extend({
  checks: z
    .array(z.strictObject({ id: z.string().max(64), ok: z.boolean(), message: z.string().max(4_000) }))
    .min(1)
    .max(64),
})

export const jobResultRequestSchema = z.strictObject({
  lease: z.string().min(1).max(200),
  report: reportSchema,
})

export const jobResultSchema = z.object({
  /** What the version is now. */
  state: z.enum(['published', 'rejected']),
})
