import { z } from 'zod'

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
  clip_range: z.number().positive().max(100).default(0.2),
  entropy_coefficient: z.number().min(0).max(100).default(0),
  max_gradient_norm: z.number().positive().default(0.5),
  /** Stop an update's epochs when the approximate KL divergence passes 1.5 times this; null never stops. */
  target_kl: z.number().positive().nullable().default(null),
  normalize_observation: z.boolean().default(false),
  hidden: z.array(positiveInteger.max(8192)).max(8).default([64, 64]),
  activation: z.enum(['tanh', 'relu']).default('tanh'),
  /** Width of a token embedding for text observations. */
  embedding: positiveInteger.max(1024).default(32),
  /** Where rollouts and the learner compute. */
  execution_provider: z.enum(['cpu', 'cuda']).default('cpu'),
  /** Rollout threads, each with its own isolate; 0 takes one a core, at most one for every 64 environments. */
  rollout_workers: z.int().min(0).max(256).default(0),
  /** Learner threads; 0 takes what suits the minibatch. Results depend on it in the last bits. */
  learner_threads: z.int().min(0).max(256).default(0),
  /** Environment steps between checkpoints; 0 writes only the last. */
  checkpoint_every: z.int().min(0).default(50_000),
  /** Environment steps between evaluations that may end training early; 0 evaluates only at the end. */
  evaluate_every: z.int().min(0).default(0),
  /** Held-out episodes of each evaluation. */
  evaluation_episodes: positiveInteger.max(100_000).default(100),
  /** End as soon as an evaluation meets every success criterion of the scenario. */
  stop_at_success: z.boolean().default(true),
}

/**
 * PPO's settings, by the names that users type (`--set learning_rate=0.001`). One "step" is one environment step.
 * Defaults follow CleanRL's ppo.py and Stable-Baselines3.
 */
export const ppoSettingsSchema = z.strictObject({
  ...commonSettings,
  /** Environments stepped side by side, over all rollout workers. */
  environments: positiveInteger.max(maxEnvironments).default(8),
  /** Steps of each environment in one rollout; environments × rollout_steps samples make one update. */
  rollout_steps: positiveInteger.max(1_000_000).default(128),
  minibatch_size: minibatchSize.default(256),
  /** Passes over each rollout. */
  epochs: epochs.default(4),
  learning_rate: learningRate.default(2.5e-4),
  gamma: fraction.default(0.99),
  gae_lambda: fraction.default(0.95),
  clip_range_schedule: z.enum(['constant', 'linear']).default('constant'),
  /** Clip the value's change too; null leaves it free. In units of the normalised return. */
  clip_range_value: z.number().positive().nullable().default(null),
  value_coefficient: z.number().min(0).max(100).default(0.5),
  /** Standardise advantages in each minibatch (skipped for a minibatch of one sample). */
  normalize_advantage: z.boolean().default(true),
  /** Divide rewards by the running deviation of the discounted return. */
  normalize_reward: z.boolean().default(false),
})
export type PpoSettings = z.infer<typeof ppoSettingsSchema>

export const ppoDefaults: PpoSettings = ppoSettingsSchema.parse({})

/**
 * GRPO's settings. One iteration plays `groups` groups of `group_size` episodes, each group from one reset, and makes
 * one update of them. Names and meanings of what PPO has too are PPO's; the rest follows DeepSeekMath (Shao et al. 2024)
 * and TRL's GRPOTrainer.
 */
export const grpoSettingsSchema = z
  .strictObject({
    ...commonSettings,
    /** Episodes that begin from one reset and are compared with each other. */
    group_size: z.int().min(2).max(maxEnvironments).default(8),
    /** Groups an iteration. */
    groups: positiveInteger.max(maxEnvironments).default(8),
    /** Weight of the KL divergence from the policy that the run started with; 0 leaves it out, as TRL does. */
    kl_coefficient: z.number().min(0).max(100).default(0),
    minibatch_size: minibatchSize.default(256),
    /** Passes over each iteration's episodes. */
    epochs: epochs.default(4),
    learning_rate: learningRate.default(1e-3),
  })
  .refine((settings) => settings.group_size * settings.groups <= maxEnvironments, {
    path: ['groups'],
    message: `group_size × groups may be ${maxEnvironments} at most`,
  })
export type GrpoSettings = z.infer<typeof grpoSettingsSchema>

/** How a run trains: the algorithm, and every one of its settings. */
export type TrainingPlan = { algorithm: 'ppo'; settings: PpoSettings } | { algorithm: 'grpo'; settings: GrpoSettings }
export type TrainingAlgorithm = TrainingPlan['algorithm']

/** Stable-Baselines3's names for what both algorithms know. */
const commonAliases = {
  n_timesteps: 'steps',
  total_timesteps: 'steps',
  batch_size: 'minibatch_size',
  n_epochs: 'epochs',
  ent_coef: 'entropy_coefficient',
  max_grad_norm: 'max_gradient_norm',
} as const

/** What an algorithm may be told. Each algorithm's names are its schema's, and those that others call them by. */
export const algorithmSettings: Record<
  TrainingAlgorithm,
  { schema: typeof ppoSettingsSchema | typeof grpoSettingsSchema; aliases: Readonly<Record<string, string>> }
> = {
  /** Stable-Baselines3's names; `n_steps` and `batch_size` mean what they mean there. */
  ppo: {
    schema: ppoSettingsSchema,
    aliases: {
      ...commonAliases,
      n_envs: 'environments',
      num_envs: 'environments',
      n_steps: 'rollout_steps',
      num_steps: 'rollout_steps',
      clip_range_vf: 'clip_range_value',
      vf_coef: 'value_coefficient',
    },
  },
  /** TRL's names besides. */
  grpo: {
    schema: grpoSettingsSchema,
    aliases: {
      ...commonAliases,
      num_generations: 'group_size',
      num_groups: 'groups',
      beta: 'kl_coefficient',
      epsilon: 'clip_range',
      num_iterations: 'epochs',
    },
  },
}

export const trainingAlgorithms = Object.keys(algorithmSettings) as [TrainingAlgorithm, ...TrainingAlgorithm[]]
