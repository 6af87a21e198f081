import { spaceDescriptionSchema } from '@agentgym/contract'
import { z } from 'zod'
import { scenarioError } from './scenario-fault.ts'
import type { ScenarioDescription, ScenarioIdentity } from './vector-environment.ts'

const count = z.int().nonnegative()

const descriptionSchema: z.ZodType<ScenarioDescription> = z.strictObject({
  observation: spaceDescriptionSchema,
  action: spaceDescriptionSchema,
  maxSteps: z.int().positive(),
  tasks: z.strictObject({ train: count, eval: count }),
  masked: z.boolean(),
  sizes: z.strictObject({ observation: z.int().positive(), action: z.int().positive(), mask: count }),
})

/** Takes the description that came out of the isolate as what it is: text from a stranger. */
export function readDescription(identity: ScenarioIdentity, text: string): ScenarioDescription {
  try {
    return descriptionSchema.parse(JSON.parse(text))
  } catch {
    throw scenarioError(identity, {
      code: 'scenario_invalid',
      place: { phase: 'define' },
      what: 'the definition does not describe itself: its spaces changed while they were read',
      hint: 'Make the spaces with box, discrete, multiDiscrete, text and dict, and leave the built-ins as they are.',
    })
  }
}
