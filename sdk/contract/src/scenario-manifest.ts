import { z } from 'zod'
import { scenarioViewSchema } from './scenario-view.ts'

/** Lowest value that each metric must reach; `return_mean` or one that the scenario reports at an episode's end. */
export const successCriteriaSchema = z.record(z.string(), z.number())
export type SuccessCriteria = z.infer<typeof successCriteriaSchema>

/** The field `agentgym` of a scenario's package.json. */
export const scenarioManifestSchema = z.strictObject({
  kind: z.literal('scenario'),
  entry: z.string().min(1),
  title: z.string().min(1).max(80),
  summary: z.string().min(1).max(280),
  category: z.string().regex(/^[a-z][a-z0-9-]*$/, 'lower-case words joined by hyphens'),
  difficulty: z.enum(['beginner', 'intermediate', 'advanced', 'expert']),
  success: successCriteriaSchema.default({}),
  /** `algorithm`, `steps` and any training setting by its name; checked where training starts. */
  training: z.record(z.string(), z.unknown()).default({}),
  /** How its episodes are drawn where they are shown; left out, as lines. */
  view: scenarioViewSchema.optional(),
})
export type ScenarioManifest = z.infer<typeof scenarioManifestSchema>

/** The parts of package.json that a scenario needs. Other fields are the author's own. */
export const scenarioPackageSchema = z.looseObject({
  name: z
    .string()
    .regex(/^(@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/, 'an npm name: lower case, scoped or not')
    .max(214),
  version: z.string().regex(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/, 'a version such as 1.0.0'),
  license: z.string().min(1).optional(),
  agentgym: scenarioManifestSchema,
})
export type ScenarioPackage = z.infer<typeof scenarioPackageSchema>
