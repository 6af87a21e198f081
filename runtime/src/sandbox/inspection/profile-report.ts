import { z } from 'zod'
import { locatePlace } from '../source-place.ts'

const share = z.number().min(0).max(1)

export const profiledPhases = [
  'reset',
  'step',
  'observe',
  'actionMask',
  'metrics',
  'engine',
  'garbage collector',
] as const
export type ProfiledPhase = (typeof profiledPhases)[number]

const functionSchema = z.strictObject({
  name: z.string().max(120),
  /** In the bundle, from 1; the parent turns it into a place in the author's files. */
  line: z.int().nonnegative(),
  column: z.int().nonnegative(),
  /** Of the time: in the function itself, and with all that it calls. */
  self: share,
  total: share,
  /** Allocated by the function itself. */
  bytes_per_step: z.number().nonnegative(),
})

/** What crosses from the job's process: a stranger's code may have written it. */
export const rawProfileSchema = z.strictObject({
  seed: z.int(),
  steps: z.int().positive(),
  episodes: z.int().nonnegative(),
  seconds: z.number().positive(),
  steps_per_second: z.number().positive(),
  bytes_per_step: z.number().nonnegative(),
  samples: z.int().nonnegative(),
  /** Collections that the samples show; short ones may be missed. */
  collections: z.int().nonnegative(),
  phases: z
    .array(z.strictObject({ phase: z.enum(profiledPhases), share, bytes_per_step: z.number().nonnegative() }))
    .max(profiledPhases.length),
  functions: z.array(functionSchema).max(100),
})
export type RawProfile = z.infer<typeof rawProfileSchema>

type RawFunction = z.infer<typeof functionSchema>
/** `file` and `line` are the author's, where a source map leads there; else those of the bundle. */
export type ProfiledFunction = Omit<RawFunction, 'column'> & { file: string }
export type ScenarioProfile = Omit<RawProfile, 'functions'> & { functions: ProfiledFunction[] }

/** Puts every function where its author wrote it. */
export function locateProfile(profile: RawProfile, sourceMap: string | undefined): ScenarioProfile {
  const locate = locatePlace(sourceMap)
  const functions = profile.functions.map(({ column, ...one }): ProfiledFunction => {
    const { file, line } = locate(one.line, column)
    return { ...one, file, line }
  })
  return { ...profile, functions }
}
