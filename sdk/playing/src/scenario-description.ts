import { spaceDescriptionSchema } from '@agentgym/contract'
import type { ScenarioDescription } from '@agentgym/scenario/engine'
import { z } from 'zod'

const count = z.int().nonnegative()

/** One line without control characters. */
const levelText = (longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .regex(/^[^\p{C}\p{Zl}\p{Zp}]+$/u)

/** What a scenario says of itself, as it comes out of a guest: data from a stranger. */
export const scenarioDescriptionSchema: z.ZodType<ScenarioDescription> = z.strictObject({
  observation: spaceDescriptionSchema,
  action: spaceDescriptionSchema,
  maxSteps: z.int().positive(),
  tasks: z.strictObject({ train: count, eval: count }),
  levels: z
    .array(z.strictObject({ name: levelText(40), description: levelText(200).optional() }))
    .min(2)
    .max(16)
    .optional(),
  masked: z.boolean(),
  memory: z.literal(true).optional(),
  oracle: z.literal(true).optional(),
  rules: z.literal(true).optional(),
  renders: z.literal(true).optional(),
  tools: z.array(z.strictObject({ name: z.string().min(1).max(200), description: z.string().max(1000) })).optional(),
  sizes: z.strictObject({ observation: z.int().positive(), action: z.int().positive(), mask: count, text: count }),
})
