import { z } from 'zod'
import { type Calibration, calibrationSchema, confidenceMapSchema, type Reliability } from './calibration.ts'
import { comparisonSchema } from './comparison.ts'
import { successCriteriaSchema } from './scenario-manifest.ts'
import { spaceDescriptionSchema } from './space-description.ts'
import { trainingAlgorithms } from './training-settings.ts'

const count = z.int().nonnegative()
const positive = z.int().positive()

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/**
 * The frozen sentence encoder whose vector of a text is the policy's input. It is no part of model.onnx: who runs the agent
 * needs these very files, and another file is refused.
 */
const sentenceEncoderSchema = z.strictObject({
  name: z.literal('minilm'),
  /** SHA-256 (hex) of the encoder's ONNX model. */
  model_sha256: sha256,
  /** SHA-256 (hex) of its vocabulary, one word piece a line. */
  vocabulary_sha256: sha256,
  /** Word pieces that are read, the two that mark beginning and end included; the rest of a text is cut off. */
  max_tokens: positive,
  /** Of UTF-16 units: what a text has beyond them is cut off first. */
  max_characters: positive,
  /** How the vectors of the word pieces become one. */
  pooling: z.literal('mean'),
  /** The vector is divided by its Euclidean norm. */
  normalized: z.literal(true),
})
export type SentenceEncoder = z.infer<typeof sentenceEncoderSchema>

/**
 * One leaf of the observation space in the flat float32 row that the engine writes and the policy reads.
 * `box`: `size` numbers. `discrete`, `multiDiscrete`: one index a component, `counts` values each (one-hot in the
 * network). `text`: `size` token ids below `counts[0]`, 0 is padding. A text with an encoder is a box of its numbers.
 */
const observationLeafSchema = z.strictObject({
  /**
   * Name of the ONNX input: `obs` for a space that is one leaf, else the dict path joined by dots; with `.embedding` behind
   * it where the input is an encoder's vector.
   */
  name: z.string().min(1),
  kind: z.enum(['box', 'discrete', 'multiDiscrete', 'text']),
  /** First column in the flat observation row. */
  offset: count,
  /** Columns in the flat observation row. */
  size: positive,
  /** Values a component (discrete, multiDiscrete) or `[vocabulary]` (text); empty for a box. */
  counts: z.array(positive),
  /** Shape of a box; `[size]` otherwise. */
  shape: z.array(positive),
  /** Of a list, which is a box of shape [slots, 1 + features]: its rows are alike, so they share their statistics. */
  slots: positive.optional(),
  /** Absent: the numbers are the scenario's own. */
  encoder: sentenceEncoderSchema.optional(),
})
export type ObservationLeaf = z.infer<typeof observationLeafSchema>

/**
 * One leaf of the action space. Categorical leaves (`discrete`, `multiDiscrete`) have `counts` and take
 * sum(counts) columns of the distribution row (logits); a `box` leaf takes `size` columns (the Gaussian's means).
 */
const actionLeafSchema = z.strictObject({
  name: z.string().min(1),
  kind: z.enum(['discrete', 'multiDiscrete', 'box']),
  /** First column in the flat action row (categorical: index from 0; box: the number itself). */
  offset: count,
  /** Columns in the flat action row. */
  size: positive,
  counts: z.array(positive),
  /** First column in the distribution row: logits or means. */
  distributionOffset: count,
  /** First column in the mask row (one 0/1 a logit); meaningless for a box. */
  maskOffset: count,
  /** Box only: first element in `log_std`. */
  logStdOffset: count,
  /** Box only, one a column: bounds (null: none), and the map from the network's output to the action's own units. */
  low: z.array(z.number().nullable()),
  high: z.array(z.number().nullable()),
  center: z.array(z.number()),
  scale: z.array(z.number()),
  /**
   * Box only, one a column: the action is center + scale * squash(u), clipped to the bounds, with u drawn from a Gaussian.
   * Absent: a Gaussian of mean center + scale * network output, clipped to the bounds.
   */
  squash: z.array(z.enum(['tanh', 'exp', 'sinh'])).optional(),
  /** Discrete only: what index 0 means to the scenario. */
  start: z.int(),
  /**
   * A parameter of a tool: it counts only where the action row has `choice` in `column`, a column of an earlier leaf. Elsewhere it has no
   * part in the action's probability and entropy, and is 0 in the action row.
   */
  when: z.strictObject({ column: count, choice: count }).optional(),
  /**
   * A choice among the slots of a list, the observation's leaf number `leaf`. The network gives a query of `units` numbers; the
   * logit of a slot is its dot product with tanh(W x + b) of the slot's row x, as it enters the network.
   */
  pointer: z.strictObject({ leaf: count, units: positive }).optional(),
  /**
   * The value of every column where the policy does not choose it and has no output for it. If that choice is masked, the first
   * legal one is used instead.
   */
  fixed: z.array(z.number()).optional(),
})
export type ActionLeaf = z.infer<typeof actionLeafSchema>

/**
 * How images enter the networks: box leaves of shape [channels, height, width] that are large enough go through
 * convolutions, the layers of which follow from `kind`, `filters` and the image's size.
 */
const convolutionSchema = z.strictObject({
  kind: z.enum(['small', 'residual']),
  /** Filters of the first layers; later ones have more. */
  filters: positive,
})

/** Defines both the libtorch module and the ONNX graph. Actor and critic, where there are both, are separate networks of the same shape. */
export const policySpecSchema = z.strictObject({
  version: z.literal(1),
  observation: z.array(observationLeafSchema).min(1),
  action: z.array(actionLeafSchema).min(1),
  /** Units of each hidden layer. */
  hidden: z.array(positive),
  activation: z.enum(['tanh', 'relu']),
  /** Width of a token embedding; used by text leaves only. */
  embedding: positive,
  /** Box leaves are standardized by running statistics that are part of the graph, then clipped to ±10. */
  normalizeObservation: z.boolean(),
  /** Absent: every box is a row of numbers, as in all older agents. */
  convolution: convolutionSchema.optional(),
  /**
   * Absent: an actor and a critic. `q`: one network, whose outputs are the values of the actions of the only leaf, which is
   * discrete; `logits` of the model are these values, in the reward's own units, and `value` is their maximum. `dueling_q`:
   * the same, of a network that adds a value of the state and advantages of the actions. `squashed_gaussian`: an actor
   * alone, whose outputs are the means and log standard deviations of the leaves, which are boxes; `value` is 0.
   */
  head: z.enum(['q', 'dueling_q', 'squashed_gaussian']).optional(),
  /**
   * A recurrent core between the hidden layers and the outputs of actor and critic each. The model then has an input
   * `state` [batch, 2 × units], zeros where an episode begins, and an output `next_state`: the actor's units, then the
   * critic's. Absent: the policy acts on the observation alone.
   */
  memory: z.strictObject({ kind: z.literal('gru'), units: positive }).optional(),
})
export type PolicySpec = z.infer<typeof policySpecSchema>

/**
 * How the task of an evaluation episode is chosen. `numbered`: the episode's number modulo the number of tasks, whatever
 * the seed; agents of older versions were evaluated so. `drawn`: at random, from the evaluation's seed.
 */
export const taskOrderSchema = z.enum(['numbered', 'drawn'])
export type TaskOrder = z.infer<typeof taskOrderSchema>

/** The tasks that an evaluation chose from. */
export const evaluationTasksSchema = z.strictObject({
  /** `train`: the scenario has no tasks for evaluation alone. */
  split: z.enum(['train', 'eval']),
  /** Tasks of that split. */
  size: positive,
  order: taskOrderSchema,
})
export type EvaluationTasks = z.infer<typeof evaluationTasksSchema>

/** What an agent reached on the episodes of one level. */
const levelEvaluationSchema = z.strictObject({
  /** As the scenario declares it. */
  name: z.string().min(1).max(40),
  episodes: z.int().nonnegative(),
  return_mean: z.number().nullable(),
  /** Means over the episodes of this level. */
  metrics: z.record(z.string(), z.number()),
})
export type LevelEvaluation = z.infer<typeof levelEvaluationSchema>

/**
 * What a player without training reached on the same episodes: `random` picks among the legal actions, `rules` are the
 * scenario author's.
 */
const baselineSchema = z.strictObject({
  player: z.enum(['random', 'rules']),
  return_mean: z.number(),
  length_mean: z.number(),
  metrics: z.record(z.string(), z.number()),
  /** Whether it meets every success criterion; null without criteria. */
  success: z.boolean().nullable(),
})
export type Baseline = z.infer<typeof baselineSchema>

/** What `agentgym eval` prints. Means over episodes; null if no episode ended. */
export const evaluationSchema = z.strictObject({
  /** `name@version` */
  scenario: z.string(),
  episodes: z.int().nonnegative(),
  /** At most 2^53 - 1; one below 2^32 gives the streams that older versions drew. */
  seed: z.int().nonnegative(),
  /** Absent: the scenario has no numbered tasks, or an older version evaluated, in numbered order. */
  tasks: evaluationTasksSchema.optional(),
  return_mean: z.number().nullable(),
  return_std: z.number().nullable(),
  length_mean: z.number().nullable(),
  /** Means of the metrics that the scenario reports at the end of an episode. */
  metrics: z.record(z.string(), z.number()),
  /** In the scenario's order: episode e plays level e modulo their number. Absent: the scenario has no levels. */
  levels: z.array(levelEvaluationSchema).min(2).max(16).optional(),
  /** Each success criterion with the value reached. `ok` if all are met; null without criteria. */
  success: z.strictObject({
    ok: z.boolean().nullable(),
    criteria: z.array(
      z.strictObject({ metric: z.string(), target: z.number(), value: z.number().nullable(), ok: z.boolean() }),
    ),
  }),
  /**
   * Absent: an older version evaluated, the agent does not pick one of several choices by probability, or the scenario does not
   * report `solved`.
   */
  calibration: calibrationSchema.optional(),
  /** Absent: an older version evaluated, or `calibration` is absent and the scenario has no rules. */
  baselines: z.array(baselineSchema).min(1).max(2).optional(),
  /** SHA-256 (hex) over every episode's actions, rewards and ends, in order of the episodes. */
  trajectory_hash: z.string().regex(/^[0-9a-f]{64}$/),
})
export type Evaluation = z.infer<typeof evaluationSchema>

/**
 * Versions and hardware that can affect results in the last bits, as in agent.json: Node.js, V8, ONNX Runtime, `arch`
 * (the processor's architecture) and `instructions` (the instruction set that ONNX Runtime computes with).
 */
export const runtimeSignatureSchema = z.record(z.string().max(40), z.string().max(80))
export type RuntimeSignature = z.infer<typeof runtimeSignatureSchema>

/** The agent that a run started from: its package, as it said of itself, and what its weights were. */
export const agentParentSchema = z.strictObject({
  name: z
    .string()
    .regex(/^(@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/)
    .max(214),
  version: z
    .string()
    .regex(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/)
    .max(64),
  /** SHA-256 (hex) of its model.onnx. */
  model_hash: z.string().regex(/^[0-9a-f]{64}$/),
  /** Of its package.json; null if that has none. It still holds for the weights that the run started with. */
  license: z.string().max(200).nullable(),
})
export type AgentParent = z.infer<typeof agentParentSchema>

/**
 * What of an agent that calls tools was trained. The policy chooses tools and their arguments; tools run in the scenario's or the
 * caller's own back ends, and no text is generated, so the last two are never trained.
 */
export const agentTrainableSchema = z.strictObject({
  tool_selection: z.boolean(),
  /** False: tools are called with the defaults of their parameters. */
  parameter_selection: z.boolean(),
  tool_execution: z.literal(false),
  output_generation: z.literal(false),
})
export type AgentTrainable = z.infer<typeof agentTrainableSchema>

/** What a policy's own parts say of that; undefined for a scenario without tools that have parameters. */
export function trainedParts({ action }: Pick<PolicySpec, 'action'>): AgentTrainable | undefined {
  const parameters = action.filter(({ when }) => when !== undefined)
  if (parameters.length === 0) return undefined
  const tool = action.find(({ offset }) => offset === parameters[0].when?.column)
  return {
    tool_selection: tool?.fixed === undefined,
    parameter_selection: parameters.every(({ fixed }) => fixed === undefined),
    tool_execution: false,
    output_generation: false,
  }
}

/**
 * An environment that is no scenario: a process of the trainer's, which no registry has. What an agent does in it, others
 * cannot verify.
 */
export const agentEnvironmentSchema = z.strictObject({
  /** How it is reached: by its id in Gymnasium, by a function of Python, or at an address, which is not said. */
  kind: z.enum(['gymnasium', 'python', 'openenv', 'vector']),
  /** Of Gymnasium, such as `LunarLander-v3`; of Python, `module:function`; else the name that its server gives. */
  id: z.string().min(1).max(400),
  /** Of what it comes from, such as `{ "gymnasium": "1.4.0" }`. */
  versions: z.record(z.string().max(400), z.string().max(400)),
  /** Keyword arguments of what makes it; absent: none. */
  arguments: z.record(z.string(), z.unknown()).optional(),
})
export type AgentEnvironment = z.infer<typeof agentEnvironmentSchema>

/** agent.json of a trained agent's package. */
const wholeManifestSchema = z.strictObject({
  format: z.literal(1),
  scenario: z.strictObject({
    name: z.string(),
    version: z.string(),
    /** SHA-256 (hex) of the bundle that was trained on. */
    hash: z.string().regex(/^[0-9a-f]{64}$/),
    observation: spaceDescriptionSchema,
    action: spaceDescriptionSchema,
    /**
     * The scenario has an action mask, so the policy has only ever chosen among legal actions: whoever asks it must say which
     * those are. Absent: every action is always legal, or the agent is of an older version, which did not say.
     */
    mask_required: z.literal(true).optional(),
    success: successCriteriaSchema,
    /** Present: trained in this, and `name`, `version` and `hash` are those of its description. */
    environment: agentEnvironmentSchema.optional(),
  }),
  policy: policySpecSchema,
  /** Absent: its scenario has no tools with parameters. */
  trainable: agentTrainableSchema.optional(),
  algorithm: z.enum(trainingAlgorithms),
  settings: z.record(z.string(), z.unknown()),
  seed: z.int().nonnegative(),
  /** Environment steps trained. */
  steps: z.int().nonnegative(),
  /** From the policy's probability to the chance of success. Absent: the agent is not calibrated. */
  confidence: confidenceMapSchema.optional(),
  evaluation: evaluationSchema,
  /** SHA-256 (hex) of model.onnx. */
  model_hash: z.string().regex(/^[0-9a-f]{64}$/),
  runtime: z.record(z.string(), z.string()),
  /** Absent: trained from random weights. */
  parent: agentParentSchema.optional(),
  /** Absent: its publisher did not measure it. */
  comparison: comparisonSchema.optional(),
})
export const agentManifestSchema = wholeManifestSchema.refine(
  ({ policy, trainable }) => {
    const parts = trainable === undefined ? undefined : trainedParts(policy)
    return (
      parts?.tool_selection === trainable?.tool_selection &&
      parts?.parameter_selection === trainable?.parameter_selection
    )
  },
  { path: ['trainable'], message: 'is not what the policy chooses' },
)
export type AgentManifest = z.infer<typeof agentManifestSchema>

/** The order in which an evaluation chose its tasks; those of older versions do not say it. */
export function taskOrderOf({ tasks }: Pick<Evaluation, 'tasks'>): TaskOrder {
  return tasks?.order ?? 'numbered'
}

/** With fewer tasks than this, a policy could remember the solution of each. */
const leastTasks = 1_000_000

/**
 * Whether the tasks of an evaluation are a fixed set that anyone could learn by heart: few, in a known order, or those of
 * training. Without numbered tasks (undefined) every episode is drawn.
 */
export function isFixedTaskSet(tasks: Evaluation['tasks']): boolean {
  if (tasks === undefined) return false
  return tasks.split === 'train' || tasks.order === 'numbered' || tasks.size < leastTasks
}

/** `tasks drawn from 1,000,000,000`, or `fixed set of 200 tasks, public`. */
export function describeTaskSet(tasks: EvaluationTasks): string {
  const size = tasks.size.toLocaleString('en')
  if (!isFixedTaskSet(tasks)) return `tasks drawn from ${size}`
  return `fixed set of ${size} tasks, public${tasks.split === 'train' ? ', also used in training' : ''}`
}

export type EvaluationDifference = { field: string; expected: unknown; found: unknown }

/**
 * Where two evaluations differ, bit for bit: the same episodes with the same agent give the same figures to the last
 * digit, and the same hash over every action and reward. Empty where they are one.
 */
export function compareEvaluations(expected: Evaluation, found: Evaluation): EvaluationDifference[] {
  const differences: EvaluationDifference[] = []
  const compare: Compare = (field, a, b) => {
    if (!Object.is(a, b)) differences.push({ field, expected: a ?? null, found: b ?? null })
  }
  for (const field of ['scenario', 'episodes', 'seed', 'return_mean', 'return_std', 'length_mean'] as const) {
    compare(field, expected[field], found[field])
  }
  for (const name of new Set([...Object.keys(expected.metrics), ...Object.keys(found.metrics)])) {
    compare(`metrics.${name}`, own(expected.metrics, name), own(found.metrics, name))
  }
  const levels = Math.max(expected.levels?.length ?? 0, found.levels?.length ?? 0)
  for (let i = 0; i < levels; i++) compareLevels(i, expected.levels?.[i], found.levels?.[i], compare)
  // An older version says nothing of its tasks; it evaluated in numbered order.
  for (const field of ['split', 'size', 'order'] as const) {
    if (expected.tasks !== undefined) compare(`tasks.${field}`, expected.tasks[field], found.tasks?.[field])
  }
  // Nor does an older version measure calibration, or play baselines.
  if (expected.calibration !== undefined) compareCalibrations(expected.calibration, found.calibration, compare)
  expected.baselines?.forEach((baseline, i) => {
    compareBaselines(`baselines.${i}`, baseline, found.baselines?.[i], compare)
  })
  compare('trajectory_hash', expected.trajectory_hash, found.trajectory_hash)
  return differences
}

type Compare = (field: string, a: unknown, b: unknown) => void

function compareCalibrations(expected: Calibration, found: Calibration | undefined, compare: Compare): void {
  for (const field of ['choices', 'succeeded'] as const)
    compare(`calibration.${field}`, expected[field], found?.[field])
  for (const field of ['probability', 'confidence'] as const)
    compareReliability(`calibration.${field}`, expected[field] ?? undefined, found?.[field] ?? undefined, compare)
}

function compareBaselines(path: string, expected: Baseline, found: Baseline | undefined, compare: Compare): void {
  for (const field of ['player', 'return_mean', 'length_mean', 'success'] as const)
    compare(`${path}.${field}`, expected[field], found?.[field])
  for (const name of new Set([...Object.keys(expected.metrics), ...Object.keys(found?.metrics ?? {})]))
    compare(`${path}.metrics.${name}`, own(expected.metrics, name), own(found?.metrics ?? {}, name))
}

function compareReliability(
  path: string,
  a: Reliability | undefined,
  b: Reliability | undefined,
  compare: Compare,
): void {
  compare(`${path}.ece`, a?.ece, b?.ece)
  for (let i = 0; i < Math.max(a?.bins.length ?? 0, b?.bins.length ?? 0); i++) {
    for (const field of ['from', 'choices', 'predicted', 'succeeded'] as const)
      compare(`${path}.bins.${i}.${field}`, a?.bins[i]?.[field], b?.bins[i]?.[field])
  }
}

function compareLevels(
  index: number,
  expected: LevelEvaluation | undefined,
  found: LevelEvaluation | undefined,
  compare: Compare,
): void {
  const path = `levels.${index}`
  for (const field of ['name', 'episodes', 'return_mean'] as const) {
    compare(`${path}.${field}`, expected?.[field], found?.[field])
  }
  const [a, b] = [expected?.metrics ?? {}, found?.metrics ?? {}]
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
    compare(`${path}.metrics.${name}`, own(a, name), own(b, name))
  }
}

/** The metrics that a table of levels shows beside the return: those of the success criteria. Empty without levels. */
export function levelMetrics({ levels, success }: Pick<Evaluation, 'levels' | 'success'>): string[] {
  if (levels === undefined) return []
  return success.criteria.map(({ metric }) => metric).filter((metric) => metric !== 'return_mean')
}

function own(record: Record<string, number>, name: string): number | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}
