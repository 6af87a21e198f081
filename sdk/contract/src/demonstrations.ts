import { z } from 'zod'
import { taskOrderSchema } from './agent-manifest.ts'

const hash = z.string().regex(/^[0-9a-f]{64}$/)

const tasksSchema = z
  .strictObject({ split: z.enum(['train', 'eval']), size: z.int().positive(), order: taskOrderSchema })
  .nullable()

/** The first line of a file of demonstrations. */
export const demonstrationsHeadSchema = z.strictObject({
  format: z.literal('agentgym-demonstrations'),
  format_version: z.literal(1),
  /** Version of AgentGym that wrote the file. */
  agentgym: z.string(),
  scenario: z.strictObject({ name: z.string(), version: z.string(), hash }),
  seed: z.int().nonnegative(),
  tasks: tasksSchema,
})
export type DemonstrationsHead = z.infer<typeof demonstrationsHeadSchema>

/** Each further line: an episode of a person, bit for bit. */
export const demonstrationSchema = z.strictObject({
  /** Number of the held-out episode: with the seed, it decides the task and everything that is random. */
  episode: z.int().nonnegative(),
  /** Rows of the action, categorical ones as indices from 0; numbers are float32. */
  actions: z.array(z.array(z.number())).min(1),
  rewards: z.array(z.number()),
  return: z.number(),
  end: z.enum(['terminated', 'truncated']),
  metrics: z.record(z.string(), z.number()),
  /** SHA-256 over actions, rewards and end, as `agentgym eval` computes it for each episode. */
  trajectory_hash: hash,
})
export type Demonstration = z.infer<typeof demonstrationSchema>

/** The tasks that the held-out episodes of a scenario draw from; null if it has none. */
export function demonstrationTasks({
  train,
  eval: held,
}: {
  train: number
  eval: number
}): DemonstrationsHead['tasks'] {
  if (train === 0) return null
  return { split: held > 0 ? 'eval' : 'train', size: held > 0 ? held : train, order: 'drawn' }
}

/** Seed of the episodes that people play in pages. Equal for everyone, so that nobody chooses an easy one. */
export const playedSeed = 0

/** Limits of an episode that is kept. `numbers`: of all its actions together. */
export const keptEpisodeLimits = { steps: 10_000, numbers: 20_000, episodes: 1_000, metrics: 64 }
