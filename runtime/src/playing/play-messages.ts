import { type PolicySpec, recordedEpisodeSchema, type ScenarioView, type TaskOrder } from '@agentgym/contract'
import { z } from 'zod'
import type { ScenarioCode } from '../sandbox/scenario-code.ts'

/** Who chooses the actions: an agent's likeliest ones, chance, or whoever sends them. */
export type Player = { kind: 'agent'; policy: PolicySpec; model: Uint8Array } | { kind: 'random' } | { kind: 'person' }

export type PlayJob = {
  scenario: ScenarioCode
  player: Player
  seed: number
  taskOrder: TaskOrder
  view: ScenarioView | null
  /** Draws scenes and reads texts; a replay needs neither. */
  look: boolean
}

/** To the job. Each is answered by one `PlayReply`. */
export type PlayRequest =
  /** Begins that held-out episode, whatever was played before. */
  | { do: 'begin'; episode: number }
  /** One step: with that action, or with the player's own where it is null. */
  | { do: 'step'; action: number[] | null }

const { observation, action, scene, last, steps } = recordedEpisodeSchema.shape
const count = z.int().nonnegative()
const bound = z.number().nullable()

const controlSchema = z.strictObject({
  kind: z.enum(['discrete', 'multiDiscrete', 'box']),
  /** Choices of each categorical column. */
  counts: z.array(count),
  /** Of each column of a box; null: unbounded. */
  low: z.array(bound),
  high: z.array(bound),
  /** Counts only where the action row has `choice` in `column`: an argument of a tool. */
  when: z.strictObject({ column: count, choice: count }).optional(),
})

/** What comes out of the job's process, which may have been taken over. */
export const playReplySchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('opened'),
    observation,
    action,
    maxSteps: z.int().positive(),
    /** The leaves of `action`, as a person chooses them. */
    controls: z.array(controlSchema).max(64),
    tasks: z.strictObject({ train: count, eval: count }),
    /** Names of the levels; empty where the scenario has none. Episode e is of level e modulo their number. */
    levels: z.array(z.string().max(40)).max(16),
  }),
  z.strictObject({
    kind: z.literal('seen'),
    /** What the step did; null after `begin`. */
    step: z
      .strictObject({
        ...steps.element.pick({ action: true, reward: true, likely: true }).shape,
        /** The action row and the reward, bit for bit. */
        exact: z.strictObject({ action: z.array(z.number()), reward: z.number() }),
        end: z.enum(['terminated', 'truncated']).nullable(),
        metrics: z.record(z.string(), z.number()),
        /** SHA-256 (hex) of the episode's trajectory, at its end. */
        digest: z.string().nullable(),
      })
      .nullable(),
    /** After the step: of an episode that has ended, its last observation. */
    seen: last,
    /** New shapes of scenes, after those of earlier replies of the episode, and the size of its scenes. */
    scene,
    /** The legal choices of the next action, one list a categorical component; null where every action is legal. */
    legal: z.array(z.array(z.boolean())).nullable(),
    /** What the player would do next, if it has a policy of choices. */
    likely: steps.element.shape.likely,
    logs: z.array(z.string().max(600)).max(100),
  }),
])
export type PlayReply = z.infer<typeof playReplySchema>
export type SeenReply = Extract<PlayReply, { kind: 'seen' }>
