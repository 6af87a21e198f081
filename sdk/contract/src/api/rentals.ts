import { z } from 'zod'

const moment = z.iso.datetime()
const count = z.int().nonnegative()
const cents = count.max(100_000_000)
const seconds = count.max(10_000_000)

/** A machine with one GPU that was rented for the queue, or that is about to be. Amounts are US cents, as providers count. */
export const rentalSchema = z
  .object({
    /** Its worker's name at the provider is `agentgym-` and this without hyphens, as on the server. */
    id: z.uuid(),
    provider: z.string(),
    gpu: z.string(),
    /** Of its GPU; null if the provider does not say. */
    memory_bytes: count.nullable(),
    cents_per_hour: count,
    /** What it may cost until `ends_at`. */
    most_cents: count,
    created_at: moment,
    /** When the provider or the worker itself ends it. */
    ends_at: moment,
    /** Whether its worker has a run. */
    busy: z.boolean(),
    /** Whether its worker has ever asked for a job. */
    connected: z.boolean(),
    /** Since it was reserved, or had a run. */
    idle_seconds: count,
    /** When it was decided to end it: its token is revoked, and it gets no more runs. */
    closed_at: moment.nullable(),
    /** Why it was closed. */
    reason: z.string().nullable(),
    /** When the provider had it no longer. */
    ended_at: moment.nullable(),
  })
  .meta({ id: 'Rental' })
export type Rental = z.infer<typeof rentalSchema>

export const rentalListRequestSchema = z.object({
  /** Seconds after which a run is listed that a connected worker could train. */
  wait_seconds: z.coerce.number().int().min(0).max(1_000_000).default(600),
})

export const rentalListSchema = z.object({
  /** Those that have not ended, oldest first. */
  rentals: z.array(rentalSchema),
  /** Queued runs that need one GPU, and that neither a connected worker nor a rental without a run will train. */
  wanted: z.array(z.object({ run: z.uuid(), memory_bytes: count, waiting_seconds: count })),
  /** What those that have not ended cost an hour, and what rentals of the last 24 hours cost or may still cost. */
  spent: z.object({ cents_per_hour: count, cents_per_day: count }),
})
export type RentalList = z.infer<typeof rentalListSchema>

export const reserveRentalRequestSchema = z.strictObject({
  provider: z.string().min(1).max(40),
  gpu: z.string().min(1).max(200),
  memory_bytes: count.nullable(),
  cents_per_hour: cents,
  /** How long it may run at most. Less is granted where the money of the day is enough for no more. */
  max_seconds: seconds.min(1),
  /** Less time than this is refused: the machine would end while it starts. */
  least_seconds: seconds.default(600),
  wait_seconds: seconds,
  limits: z.strictObject({
    /** Machines at a time. */
    machines: count.max(1_000),
    cents_per_hour: cents,
    /** In any 24 hours. */
    cents_per_day: cents,
  }),
})
export type ReserveRentalRequest = z.infer<typeof reserveRentalRequestSchema>

export const reservedRentalSchema = z.object({
  /** Null: refused. `worker`: the name that its worker must have. */
  rental: z.object({ id: z.uuid(), worker: z.string(), token: z.string(), max_seconds: count }).nullable(),
  /** Why it was refused. */
  refused: z.enum(['not_needed', 'machines', 'cents_per_hour', 'cents_per_day']).nullable(),
})
export type ReservedRental = z.infer<typeof reservedRentalSchema>

export const endRentalRequestSchema = z.strictObject({
  /** `closed`: it gets no more runs. `ended`: the provider has it no longer. */
  state: z.enum(['closed', 'ended']),
  reason: z.string().min(1).max(200),
})
