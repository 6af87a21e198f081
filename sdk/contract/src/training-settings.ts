import { z } from 'zod'

const fraction = z.number().min(0).max(1)
const positiveInteger = z.int().positive()

/**
 * PPO's settings, by the names that users type (`--set learning_rate=0.001`). One "step" is one environment step.
 * Defaults follow CleanRL's ppo.py and Stable-Baselines3.
 */
export const ppoSettingsSchema = z.strictObject({
  /** Environment steps in all. */
  steps: positiveInteger.max(1e12).default(100_000),
  /** Environments stepped side by side, over all rollout workers. */
  environments: positiveInteger.max(65_536).default(8),
  /** Steps of each environment in one rollout; environments × rollout_steps samples make one update. */
  rollout_steps: positiveInteger.max(1_000_000).default(128),
  minibatch_size: positiveInteger.max(16_777_216).default(256),
  /** Passes over each rollout. */
  epochs: positiveInteger.max(1000).default(4),
  learning_rate: z.number().positive().max(10).default(2.5e-4),
  learning_rate_schedule: z.enum(['constant', 'linear']).default('linear'),
  gamma: fraction.default(0.99),
  gae_lambda: fraction.default(0.95),
  clip_range: z.number().positive().max(100).default(0.2),
  clip_range_schedule: z.enum(['constant', 'linear']).default('constant'),
  /** Clip the value's change too; null leaves it free. In units of the normalised return. */
  clip_range_value: z.number().positive().nullable().default(null),
  entropy_coefficient: z.number().min(0).max(100).default(0),
  value_coefficient: z.number().min(0).max(100).default(0.5),
  max_gradient_norm: z.number().positive().default(0.5),
  /** Stop an update's epochs when the approximate KL divergence passes 1.5 times this; null never stops. */
  target_kl: z.number().positive().nullable().default(null),
  /** Standardise advantages in each minibatch (skipped for a minibatch of one sample). */
  normalize_advantage: z.boolean().default(true),
  normalize_observation: z.boolean().default(false),
  /** Divide rewards by the running deviation of the discounted return. */
  normalize_reward: z.boolean().default(false),
  hidden: z.array(positiveInteger.max(8192)).max(8).default([64, 64]),
  activation: z.enum(['tanh', 'relu']).default('tanh'),
  /** Width of a token embedding for text observations. */
  embedding: positiveInteger.max(1024).default(32),
  /** Where rollouts and the learner compute. */
  execution_provider: z.enum(['cpu', 'cuda']).default('cpu'),
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
  /** End as soon as an evaluation meets every success criterion of the scenario. */
  stop_at_success: z.boolean().default(true),
})
export type PpoSettings = z.infer<typeof ppoSettingsSchema>

export const ppoDefaults: PpoSettings = ppoSettingsSchema.parse({})

/** Stable-Baselines3's names, accepted for the same settings. `n_steps` and `batch_size` mean what they mean there. */
export const settingAliases: Record<string, keyof PpoSettings> = {
  n_timesteps: 'steps',
  total_timesteps: 'steps',
  n_envs: 'environments',
  num_envs: 'environments',
  n_steps: 'rollout_steps',
  num_steps: 'rollout_steps',
  batch_size: 'minibatch_size',
  n_epochs: 'epochs',
  clip_range_vf: 'clip_range_value',
  ent_coef: 'entropy_coefficient',
  vf_coef: 'value_coefficient',
  max_grad_norm: 'max_gradient_norm',
}
