import { z } from 'zod'
import { AgentGymError } from './agent-gym-error.ts'
import { nearestName } from './nearest-name.ts'
import { settingAliases, stableBaselines, withDevices } from './setting-aliases.ts'

const fraction = z.number().min(0).max(1)
const positiveInteger = z.int().positive()
const minibatchSize = positiveInteger.max(16_777_216)
const epochs = positiveInteger.max(1000)
const learningRate = z.number().positive().max(10)

/** Over all rollout workers; more would not fit a machine's memory with any observation. */
const maxEnvironments = 65_536

/** What every algorithm knows, with the same meaning and the same default. */
const commonSettings = {
  /** Environment steps in all. */
  steps: positiveInteger.max(1e12).default(100_000),
  learning_rate_schedule: z.enum(['constant', 'linear']).default('linear'),
  normalize_observation: z.boolean().default(false),
  hidden: z.array(positiveInteger.max(8192)).max(8).default([64, 64]),
  activation: z.enum(['tanh', 'relu']).default('tanh'),
  /** Width of a token embedding for text observations. */
  embedding: positiveInteger.max(1024).default(32),
  /**
   * How boxes of shape [channels, height, width] enter the network: through a few convolutions, through residual blocks of
   * them, or as plain numbers. `auto`: `small` where the board or image is large enough to gain from it.
   */
  convolution: z.enum(['auto', 'none', 'small', 'residual']).default('auto'),
  /** Filters of the first convolution; later ones have up to four times as many. */
  filters: positiveInteger.max(512).default(16),
  /**
   * How a box's Gaussian keeps to its bounds. `squashed`: its sample passes through tanh (exp or sinh where bounds are
   * missing). `clipped`: its sample is cut off, and its mean may lie beyond the bounds.
   */
  box_actions: z.enum(['squashed', 'clipped']).default('squashed'),
  /** log standard deviation that box actions start with: before the squash, or for half a clipped box's width. */
  initial_log_std: z.number().min(-10).max(3).default(-1),
  /**
   * Of a scenario whose tools have parameters: whether the policy chooses the tool. False: the first legal one, in the order of the scenario.
   */
  tool_selection: z.boolean().default(true),
  /** Likewise, whether it chooses the arguments. False: the parameters' defaults. */
  parameter_selection: z.boolean().default(true),
  /** A GRU that remembers earlier observations of the episode. `auto`: if the scenario asks for it (`memory: true`). */
  memory: z.enum(['auto', 'none', 'gru']).default('auto'),
  /** Units of the GRU, in actor and critic each. */
  memory_units: positiveInteger.max(1024).default(64),
  /**
   * Where the learner computes: on the CPU, on the first or another GPU, or, with `auto`, on a GPU if there is one and the
   * network is large enough to gain from it.
   */
  learner_device: z
    .string()
    .regex(/^(auto|cpu|cuda(:\d{1,2})?)$/, 'use cpu, cuda, cuda:1 for the second GPU, or auto')
    .default('cpu'),
  /** Where rollouts compute actions, by ONNX Runtime. */
  rollout_provider: z.enum(['cpu', 'cuda', 'auto']).default('cpu'),
  /** Rollout threads, each with its own isolate; 0 takes one a core, at most one for every 8 environments. */
  rollout_workers: z.int().min(0).max(256).default(0),
  /** Learner threads; 0 takes what suits the minibatch. Results depend on it in the last bits. */
  learner_threads: z.int().min(0).max(256).default(0),
  /** Environment steps between checkpoints; 0 writes only the last. */
  checkpoint_every: z.int().min(0).default(50_000),
  /** Environment steps between evaluations that may end training early; 0 evaluates only at the end. */
  evaluate_every: z.int().min(0).default(0),
  /** Held-out episodes of each evaluation. */
  evaluation_episodes: positiveInteger.max(100_000).default(100),
  /**
   * Held-out episodes, apart from those of evaluations, that fit the agent's confidence at the end; 0 leaves it out. For agents
   * that pick one of several choices in a scenario that reports `solved`.
   */
  calibration_episodes: z.int().min(0).max(100_000).default(1_000),
  /** End as soon as an evaluation meets every success criterion of the scenario. */
  stop_at_success: z.boolean().default(true),
}

/** What the algorithms share that raise the probability of actions with a positive advantage. */
const policyGradientSettings = {
  entropy_coefficient: z.number().min(0).max(100).default(0),
  /** `linear`: what the policy needed to explore decays to 0, so that at the end it plays as it is evaluated, greedily. */
  entropy_coefficient_schedule: z.enum(['constant', 'linear']).default('constant'),
  max_gradient_norm: z.number().positive().default(0.5),
}

/** PPO's clipped objective, over shuffled minibatches. */
const clippedSettings = {
  ...policyGradientSettings,
  minibatch_size: minibatchSize.default(256),
  /** Passes over the data of each iteration. */
  epochs: epochs.default(4),
  clip_range: z.number().positive().max(100).default(0.2),
  /** Stop an update's epochs when the approximate KL divergence passes 1.5 times this; null never stops. */
  target_kl: z.number().positive().nullable().default(null),
}

/**
 * PPO's settings, by the names that users type (`--set learning_rate=0.001`). One "step" is one environment step. The
 * defaults are for untuned scenarios: enough steps of Adam for the data, both normalisations, so that no
 * unit of an observation or a reward matters, and a discount that suits the rewards. docs/results.md has what they reach.
 */
const ppoSettingsSchema = z.strictObject({
  ...commonSettings,
  ...clippedSettings,
  normalize_observation: z.boolean().default(true),
  hidden: commonSettings.hidden.unwrap().default([128, 128]),
  /** Null, here and below: chosen by the scenario before training starts. */
  entropy_coefficient: policyGradientSettings.entropy_coefficient.unwrap().nullable().default(null),
  /** Chosen only where the coefficient is; constant where that is set. */
  entropy_coefficient_schedule: policyGradientSettings.entropy_coefficient_schedule.unwrap().nullable().default(null),
  minibatch_size: minibatchSize.nullable().default(null),
  epochs: epochs.nullable().default(null),
  /** Stays null without box actions. */
  initial_log_std: commonSettings.initial_log_std.unwrap().nullable().default(null),
  /** Environments stepped side by side, over all rollout workers. */
  environments: positiveInteger.max(maxEnvironments).default(16),
  /** Steps of each environment in one rollout; environments × rollout_steps samples make one update. */
  rollout_steps: positiveInteger.max(1_000_000).nullable().default(null),
  learning_rate: learningRate.nullable().default(null),
  gamma: fraction.nullable().default(null),
  gae_lambda: fraction.nullable().default(null),
  clip_range_schedule: z.enum(['constant', 'linear']).default('constant'),
  /** Clip the value's change too; null leaves it free. In units of the normalized return. */
  clip_range_value: z.number().positive().nullable().default(null),
  value_coefficient: z.number().min(0).max(100).default(0.5),
  /** Standardise advantages in each minibatch (skipped for a minibatch of one sample). */
  normalize_advantage: z.boolean().default(true),
  /** Divide rewards by the running deviation of the discounted return. */
  normalize_reward: z.boolean().default(true),
})
export type PpoSettings = z.infer<typeof ppoSettingsSchema>

/** Names of the settings that a run chooses by its scenario where they are null. */
export const chosenSettings = [
  ...(['rollout_steps', 'minibatch_size', 'epochs'] as const),
  ...(['learning_rate', 'entropy_coefficient', 'entropy_coefficient_schedule'] as const),
  ...(['gamma', 'gae_lambda', 'initial_log_std'] as const),
] as const

export const ppoDefaults: PpoSettings = ppoSettingsSchema.parse({})

/**
 * GRPO's settings. One iteration plays `groups` groups of `group_size` episodes, each group from one reset, and makes
 * one update of them. Names and meanings of what PPO has too are PPO's; the rest follows DeepSeekMath (Shao et al. 2024)
 * and TRL's GRPOTrainer.
 */
const grpoSettingsSchema = z
  .strictObject({
    ...commonSettings,
    ...clippedSettings,
    /** Episodes that begin from one reset and are compared with each other. */
    group_size: z.int().min(2).max(maxEnvironments).default(8),
    /** Groups an iteration. */
    groups: positiveInteger.max(maxEnvironments).default(8),
    /** Weight of the KL divergence from the policy that the run started with; 0 leaves it out, as TRL does. */
    kl_coefficient: z.number().min(0).max(100).default(0),
    learning_rate: learningRate.default(1e-3),
  })
  .refine((settings) => settings.group_size * settings.groups <= maxEnvironments, {
    path: ['groups'],
    message: `group_size × groups may be ${maxEnvironments} at most`,
  })
export type GrpoSettings = z.infer<typeof grpoSettingsSchema>

/**
 * A2C's settings. Each rollout is one step of the optimizer. Their meanings follow Stable-Baselines3, except that
 * `value_coefficient` multiplies half the squared error, as PPO's does here. Defaults are for untuned scenarios, as PPO's are:
 * with those of the original (RMSprop, nothing normalised) texts are not learned. docs/experiments.md has both.
 */
const a2cSettingsSchema = z.strictObject({
  ...commonSettings,
  ...policyGradientSettings,
  normalize_observation: z.boolean().default(true),
  /** Of λ, 1: advantages are n-step returns minus the value, the original A2C. */
  ...ppoSettingsSchema.pick({ gamma: true, gae_lambda: true, learning_rate: true, initial_log_std: true }).shape,
  ...ppoSettingsSchema.pick({ entropy_coefficient: true, entropy_coefficient_schedule: true }).shape,
  /** Environments stepped side by side, over all rollout workers. */
  environments: positiveInteger.max(maxEnvironments).default(8),
  /** Steps of each environment in one rollout. */
  rollout_steps: positiveInteger.max(1_000_000).default(5),
  value_coefficient: z.number().min(0).max(100).default(0.5),
  normalize_advantage: z.boolean().default(false),
  normalize_reward: z.boolean().default(true),
  /** `rmsprop` is TensorFlow's variant, as in the original A2C: the mean square starts at 1, ε is inside the root. */
  optimizer: z.enum(['rmsprop', 'adam']).default('adam'),
})
export type A2cSettings = z.infer<typeof a2cSettingsSchema>

/** What algorithms share that learn from a replay buffer, by Stable-Baselines3's meanings; all in environment steps. */
const replaySettings = {
  learner_device: z
    .enum(['cpu', 'auto'], {
      error: 'this algorithm learns on the CPU only; its rollouts can compute on a GPU, by rollout_provider',
    })
    .default('cpu'),
  /** Environments stepped side by side, over all rollout workers. */
  environments: positiveInteger.max(maxEnvironments).default(8),
  /** Steps of each environment in one rollout. The next rollout is played while the learner learns from those before. */
  rollout_steps: positiveInteger.max(1_000_000).default(16),
  /** Steps that the replay buffer holds, over all environments. */
  buffer_size: positiveInteger.max(100_000_000).default(100_000),
  /** Steps of random actions before the first gradient step. */
  learning_starts: z.int().min(0).default(1000),
  /** Gradient steps are made at the rate of `gradient_steps` for every `train_frequency` environment steps. */
  train_frequency: positiveInteger.max(1_000_000).default(4),
  gradient_steps: positiveInteger.max(1_000_000).default(1),
  gamma: fraction.default(0.99),
}

/**
 * DQN's settings, for scenarios with one discrete action. Names and meanings are Stable-Baselines3's where it has them;
 * double Q-learning, returns of n steps and dueling networks are here besides.
 */
const dqnSettingsSchema = z.strictObject({
  ...commonSettings,
  ...replaySettings,
  activation: z.enum(['tanh', 'relu']).default('relu'),
  minibatch_size: minibatchSize.max(65_536).default(64),
  learning_rate: learningRate.default(1e-3),
  max_gradient_norm: z.number().positive().default(10),
  /** Environment steps between updates of the target network. */
  target_update_interval: positiveInteger.default(500),
  /** Share of the network that an update of the target network takes over; 1 copies it. */
  tau: z.number().positive().max(1).default(1),
  /** Steps of reward before the target network's value. */
  n_step: positiveInteger.max(1000).default(1),
  /** The network chooses the next action, the target network values it. */
  double_q: z.boolean().default(true),
  /** A value of the state and advantages of the actions. */
  dueling: z.boolean().default(false),
  /** Probability of a random action, falling linearly. */
  exploration_initial: fraction.default(1),
  exploration_final: fraction.default(0.05),
  /** Environment steps over which it falls. */
  exploration_steps: positiveInteger.default(10_000),
  /** The same as a share of `steps`; a plan has it as `exploration_steps`, and null here. */
  exploration_fraction: z.number().positive().max(1).nullable().default(null),
})
export type DqnSettings = z.infer<typeof dqnSettingsSchema>

/**
 * SAC's settings, for scenarios whose actions are boxes. Names and meanings are Stable-Baselines3's where it has them, and so
 * are defaults, except that environments are several and the activation is in common with DQN.
 */
const sacSettingsSchema = z.strictObject({
  ...commonSettings,
  ...replaySettings,
  learning_rate_schedule: commonSettings.learning_rate_schedule.unwrap().default('constant'),
  hidden: commonSettings.hidden.unwrap().default([256, 256]),
  activation: z.enum(['tanh', 'relu']).default('relu'),
  box_actions: z.literal('squashed').default('squashed'),
  rollout_steps: replaySettings.rollout_steps.unwrap().default(4),
  buffer_size: replaySettings.buffer_size.unwrap().default(1_000_000),
  train_frequency: replaySettings.train_frequency.unwrap().default(1),
  minibatch_size: minibatchSize.max(65_536).default(256),
  learning_rate: learningRate.default(3e-4),
  /** Share of the critics that their targets take over after each gradient step. */
  tau: z.number().positive().max(1).default(0.005),
  /** Weight of the entropy; `auto` learns it, starting from 1, `auto_0.1` from 0.1. */
  entropy_coefficient: z
    .union([z.number().min(0).max(1000), z.string().regex(/^auto(_\d*\.?\d*[1-9]\d*)?$/)], {
      error: 'give a number, "auto", or "auto_0.1" to start learning it from 0.1',
    })
    .default('auto'),
  /** Entropy that a learned coefficient aims at, in nats; `auto`: minus the number of action columns. */
  target_entropy: z
    .union([z.number(), z.literal('auto')], {
      error: 'give a number, or "auto" for minus the number of action columns',
    })
    .default('auto'),
})
export type SacSettings = z.infer<typeof sacSettingsSchema>

/** How a run trains: the algorithm, and every one of its settings. */
export type TrainingPlan =
  | { algorithm: 'ppo'; settings: PpoSettings }
  | { algorithm: 'grpo'; settings: GrpoSettings }
  | { algorithm: 'a2c'; settings: A2cSettings }
  | { algorithm: 'dqn'; settings: DqnSettings }
  | { algorithm: 'sac'; settings: SacSettings }
export type TrainingAlgorithm = TrainingPlan['algorithm']

/**
 * Settings of the policy that change nothing for an algorithm: they are refused where they are set, so that no run claims
 * what it does not do.
 */
const settingsWithoutEffect: Partial<Record<TrainingAlgorithm, readonly string[]>> = {
  dqn: ['box_actions', 'initial_log_std', 'memory', 'memory_units'],
  sac: ['box_actions', 'memory', 'memory_units'],
}

type SettingsSchema =
  | typeof ppoSettingsSchema
  | typeof grpoSettingsSchema
  | typeof a2cSettingsSchema
  | typeof dqnSettingsSchema
  | typeof sacSettingsSchema

/** What an algorithm may be told. Each algorithm's names are its schema's, and those that others call them by. */
export const algorithmSettings: Record<
  TrainingAlgorithm,
  { schema: SettingsSchema; aliases: Readonly<Record<string, string>> }
> = {
  ppo: { schema: ppoSettingsSchema, aliases: settingAliases.ppo },
  grpo: { schema: grpoSettingsSchema, aliases: settingAliases.grpo },
  a2c: { schema: a2cSettingsSchema, aliases: settingAliases.a2c },
  dqn: { schema: dqnSettingsSchema, aliases: settingAliases.dqn },
  sac: { schema: sacSettingsSchema, aliases: settingAliases.sac },
}

export const trainingAlgorithms = Object.keys(algorithmSettings) as [TrainingAlgorithm, ...TrainingAlgorithm[]]

export type TrainingPlanRequest = {
  algorithm?: string
  steps?: number
  /** Settings by their names or by those that other libraries give them; they win over `steps`. */
  settings?: Record<string, unknown>
}

/**
 * How a run trains: defaults, then the scenario's `training` block, then what was asked for. Whoever accepts a run and
 * whoever plays it call this, so both refuse the same. Throws `config_invalid` with `data.field`; the algorithm is
 * `algorithm`.
 *
 * Flat settings of the block hold for every algorithm to which they mean the same. Where the request names another algorithm
 * than the block, those that only the block's own knows, or that mean something else to it, are left out. A key named after an algorithm holds settings for that
 * algorithm alone: `{ "algorithm": "ppo", "gamma": 0.98, "grpo": { "group_size": 16 } }`.
 */
export function resolveTrainingPlan(
  training: Record<string, unknown>,
  request: TrainingPlanRequest = {},
): TrainingPlan {
  const { algorithm, merged } = mergedSettings(training, request)
  return validated(algorithm, merged)
}

/** Names of the settings that neither the scenario nor the request gives: the run takes their defaults. */
export function defaultedSettings(training: Record<string, unknown>, request: TrainingPlanRequest = {}): string[] {
  const { algorithm, merged } = mergedSettings(training, request)
  return namesOf(algorithm).filter((name) => !merged.has(name))
}

function mergedSettings(training: Record<string, unknown>, request: TrainingPlanRequest) {
  const { algorithm: declared = 'ppo', ...block } = training
  const own = knownAlgorithm(declared)
  const algorithm = request.algorithm === undefined ? own : knownAlgorithm(request.algorithm)
  const merged = new Map<string, unknown>()
  const take = (settings: Record<string, unknown>, place: string) => {
    for (const [key, value] of Object.entries(withDevices(settings))) {
      const name = canonicalName(algorithm, key)
      if (name === null) throw unknownSetting(algorithm, key, place)
      for (const [setting, meant] of translated(algorithm, name, key, value)) merged.set(setting, meant)
    }
    const schedule = copiedSchedule(algorithm, settings)
    if (schedule !== null) merged.set('learning_rate_schedule', schedule)
  }
  const { flat, ofAlgorithm } = splitBlock(withDevices(block), algorithm)
  const usable = Object.entries(flat).filter(([key]) => isMeantFor(algorithm, own, key))
  take(Object.fromEntries(usable), 'agentgym.training')
  take(ofAlgorithm, `agentgym.training.${algorithm}`)
  if (request.steps !== undefined) merged.set('steps', request.steps)
  take(request.settings ?? {}, 'asked for')
  // A coefficient set by hand stays what it was set to.
  const schedule = 'entropy_coefficient_schedule'
  const chosen = typeof merged.get('entropy_coefficient') === 'number' && canonicalName(algorithm, schedule) !== null
  if (chosen && !merged.has(schedule)) merged.set(schedule, 'constant')
  for (const [name, value] of merged) refuseWithoutEffect(algorithm, name, value)
  return { algorithm, merged }
}

/** Whether an algorithm has a setting by name alone, such as DQN `memory`. */
export function hasNoEffect(algorithm: TrainingAlgorithm, name: string): boolean {
  return settingsWithoutEffect[algorithm]?.includes(name) ?? false
}

/** The default is accepted: plans of runs have it. */
function refuseWithoutEffect(algorithm: TrainingAlgorithm, name: string, value: unknown): void {
  if (!hasNoEffect(algorithm, name)) return
  const defaults = algorithmSettings[algorithm].schema.parse({}) as Record<string, unknown>
  if (JSON.stringify(value) === JSON.stringify(defaults[name])) return
  const others = trainingAlgorithms.filter((other) => !hasNoEffect(other, name)).join(', ')
  throw invalid(name, `setting ${name} changes nothing for ${algorithm}`, `Remove it, or use --algorithm ${others}.`)
}

/**
 * Whether a flat setting of a block for `own` counts in a run by another algorithm: where it means the same to both. One that
 * `own` does not know itself counts, or is refused as unknown.
 */
function isMeantFor(algorithm: TrainingAlgorithm, own: TrainingAlgorithm, key: string): boolean {
  if (algorithm === own) return true
  const name = canonicalName(own, key)
  if (hasNoEffect(algorithm, canonicalName(algorithm, key) ?? '')) return false
  if (name === null) return true
  // SAC weighs the entropy against rewards, the others against normalized advantages.
  if (name === 'entropy_coefficient' && (algorithm === 'sac' || own === 'sac')) return false
  return canonicalName(algorithm, key) === name
}

/**
 * What a setting means under our own name. Stable-Baselines3's value loss is the squared error, ours half of it; RL-Zoo
 * writes `lin_0.001` for a value that falls to 0 over the run.
 */
function translated(algorithm: TrainingAlgorithm, name: string, key: string, value: unknown): [string, unknown][] {
  if (key === 'vf_coef' && typeof value === 'number') return [[name, 2 * value]]
  const linear = typeof value === 'string' ? /^lin_([0-9.]+(?:e[+-]?[0-9]+)?)$/i.exec(value) : null
  const schedule = `${name}_schedule`
  if (linear === null || canonicalName(algorithm, schedule) === null) return [[name, value]]
  return [
    [name, Number(linear[1])],
    [schedule, 'linear'],
  ]
}

/**
 * The learning rate of settings that were copied from Stable-Baselines3 or RL-Zoo: constant unless they say `lin_`. Names
 * that only those have give a copy away. Null: nothing says so.
 */
function copiedSchedule(algorithm: TrainingAlgorithm, settings: Record<string, unknown>): 'constant' | null {
  const { aliases } = algorithmSettings[algorithm]
  const copied = Object.keys(settings).some((key) => Object.hasOwn(aliases, key) && Object.hasOwn(stableBaselines, key))
  const constant = typeof settings.learning_rate === 'number' && settings.learning_rate_schedule === undefined
  return copied && constant ? 'constant' : null
}

/** Flat settings, and those in the chosen algorithm's own block. */
function splitBlock(block: Record<string, unknown>, algorithm: TrainingAlgorithm) {
  const flat: Record<string, unknown> = { ...block }
  for (const name of trainingAlgorithms) {
    if (!Object.hasOwn(flat, name)) continue
    if (!isRecord(flat[name])) {
      throw invalid(name, `agentgym.training.${name} is ${quote(flat[name])}`, `Give an object of settings of ${name}.`)
    }
    delete flat[name]
  }
  const ofAlgorithm = Object.hasOwn(block, algorithm) ? (block[algorithm] as Record<string, unknown>) : {}
  return { flat, ofAlgorithm }
}

function knownAlgorithm(algorithm: unknown): TrainingAlgorithm {
  const known = trainingAlgorithms.find((name) => name === algorithm)
  if (known !== undefined) return known
  const hint = `Use one of: ${trainingAlgorithms.join(', ')}.`
  throw invalid('algorithm', `algorithm ${quote(algorithm)} is not known`, hint)
}

function namesOf(algorithm: TrainingAlgorithm): string[] {
  return Object.keys(algorithmSettings[algorithm].schema.shape)
}

function canonicalName(algorithm: TrainingAlgorithm, key: string): string | null {
  const { aliases } = algorithmSettings[algorithm]
  const name = Object.hasOwn(aliases, key) ? aliases[key] : key
  return namesOf(algorithm).includes(name) ? name : null
}

function unknownSetting(algorithm: TrainingAlgorithm, key: string, place: string): AgentGymError {
  const names = namesOf(algorithm)
  const known = `Known settings: ${names.join(', ')}.`
  const message = `setting ${quote(key)} (${place}) is not known to ${algorithm}`
  const other = trainingAlgorithms.find((name) => canonicalName(name, key) !== null)
  if (other !== undefined) return invalid(key, message, `It is a setting of ${other}. ${known}`)
  const { aliases } = algorithmSettings[algorithm]
  const nearest = nearestName(key, [...names, ...Object.keys(aliases)])
  if (nearest === undefined) return invalid(key, message, known)
  const suggestion = aliases[nearest] ?? nearest
  return invalid(key, message, `Did you mean ${suggestion}? ${known}`, { suggestion })
}

function validated(algorithm: TrainingAlgorithm, merged: Map<string, unknown>): TrainingPlan {
  const { schema } = algorithmSettings[algorithm]
  const parsed = schema.safeParse(Object.fromEntries(merged))
  if (parsed.success) return { algorithm, settings: withFixedExploration(parsed.data) } as TrainingPlan
  const issue = parsed.error.issues[0]
  const field = String(issue.path[0])
  const defaults = schema.parse({}) as Record<string, unknown>
  const given = merged.has(field) ? merged.get(field) : defaults[field]
  const hint = `Give a value such as the default, ${field}=${JSON.stringify(defaults[field])}.`
  throw invalid(field, `setting ${field} is ${quote(given)}: ${issue.message}`, hint)
}

/** A share of the run becomes a number of steps: a run that is extended later must not explore again. */
function withFixedExploration(settings: TrainingPlan['settings']): TrainingPlan['settings'] {
  if (!('exploration_fraction' in settings) || settings.exploration_fraction === null) return settings
  const exploration_steps = Math.max(1, Math.round(settings.exploration_fraction * settings.steps))
  return { ...settings, exploration_steps, exploration_fraction: null }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(field: string, message: string, hint: string, data: Record<string, unknown> = {}): AgentGymError {
  return new AgentGymError({ code: 'config_invalid', message, hint, data: { field, ...data } })
}

function quote(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 100)
}
