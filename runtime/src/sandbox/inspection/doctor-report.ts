import { z } from 'zod'

const name = z.string().max(120)
const numbers = z.record(name, z.number().nullable())

/** What one player reached on evaluation episodes. */
const playerSchema = z.strictObject({
  player: name,
  episodes: z.int().positive(),
  return_mean: z.number(),
  length_mean: z.number(),
  /** Share of episodes that reached the time limit. */
  truncated: z.number(),
  metrics: numbers,
  /** Whether it meets every success criterion; null if there is none. */
  meets_success: z.boolean().nullable(),
  /** Of a scenario with levels: mean return on each; null where no episode of it ended in the time. */
  levels: z
    .array(z.strictObject({ name, return_mean: z.number().nullable() }))
    .max(16)
    .optional(),
})
export type DoctorPlayer = z.infer<typeof playerSchema>

/** `problem`: training cannot mean what it should; `warning`: likely a mistake; `note`: worth knowing. */
export const severities = ['problem', 'warning', 'note'] as const

const findingSchema = z.strictObject({
  /** Stable: scripts match on it. */
  id: name,
  severity: z.enum(severities),
  message: z.string().max(1_000),
  fix: z.string().max(500),
  /** Numbers behind it, with the seed that shows it again. */
  evidence: z.record(name, z.union([z.number(), z.string().max(500), z.null()])),
})
export type DoctorFinding = z.infer<typeof findingSchema>

/** What crosses from the job's process: a stranger's code may have written it. */
export const doctorReportSchema = z.strictObject({
  seed: z.int(),
  players: z.array(playerSchema).max(40),
  findings: z.array(findingSchema).max(40),
  /** Examinations that the time did not suffice for. */
  not_shown: z.array(z.string().max(200)).max(20),
})
export type DoctorReport = z.infer<typeof doctorReportSchema>
