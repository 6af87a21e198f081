/** Stable-Baselines3's names for what every algorithm knows. */
const common = { n_timesteps: 'steps', total_timesteps: 'steps' } as const

const policyGradient = {
  ...common,
  ent_coef: 'entropy_coefficient',
  max_grad_norm: 'max_gradient_norm',
  log_std_init: 'initial_log_std',
} as const

const clipped = { ...policyGradient, batch_size: 'minibatch_size', n_epochs: 'epochs' } as const

const replay = {
  ...common,
  n_envs: 'environments',
  num_envs: 'environments',
  batch_size: 'minibatch_size',
  train_freq: 'train_frequency',
} as const

const rollout = {
  n_envs: 'environments',
  num_envs: 'environments',
  n_steps: 'rollout_steps',
  num_steps: 'rollout_steps',
  vf_coef: 'value_coefficient',
} as const

/** What other libraries call the settings of each algorithm. */
export const settingAliases = {
  /** Stable-Baselines3's names; `n_steps` and `batch_size` mean what they mean there. */
  ppo: { ...clipped, ...rollout, clip_range_vf: 'clip_range_value' },
  /** TRL's names besides. */
  grpo: {
    ...clipped,
    num_generations: 'group_size',
    num_groups: 'groups',
    beta: 'kl_coefficient',
    epsilon: 'clip_range',
    num_iterations: 'epochs',
  },
  a2c: { ...policyGradient, ...rollout },
  dqn: {
    ...replay,
    n_steps: 'n_step',
    max_grad_norm: 'max_gradient_norm',
    exploration_initial_eps: 'exploration_initial',
    exploration_final_eps: 'exploration_final',
  },
  sac: { ...replay, ent_coef: 'entropy_coefficient', log_std_init: 'initial_log_std' },
} as const

/** Names that only settings copied from Stable-Baselines3 have. */
export const stableBaselines: Readonly<Record<string, string>> = { ...clipped, ...rollout }

/** Settings of releases that had one device for both: `execution_provider` is where learner and rollouts compute. */
export function withDevices<Settings extends Record<string, unknown>>(settings: Settings): Settings {
  if (!Object.hasOwn(settings, 'execution_provider')) return settings
  const { execution_provider: device, ...others } = settings
  return { learner_device: device, rollout_provider: device, ...others } as unknown as Settings
}
