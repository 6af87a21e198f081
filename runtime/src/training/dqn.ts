import type { DqnSettings } from '@agentgym/contract'
import type { DqnUpdate } from '../learner/learner-types.ts'
import type { Algorithm } from './algorithm.ts'
import { type OffPolicyParts, playWhileLearning, type ReplayUpdate } from './off-policy.ts'

/**
 * Deep Q-learning (Mnih et al. 2015), with double Q-learning (van Hasselt et al. 2016), returns of n steps and dueling
 * networks (Wang et al. 2016). One network learns the values of all actions from steps of any age:
 *
 *   loss = Huber(Q(s, a) - y),  y = Σ_{k<n} γ^k r_{t+k} + γ^n Q'(s_{t+n}, argmax_a Q(s_{t+n}, a))
 */
export function dqn({ settings, ...parts }: OffPolicyParts & { settings: DqnSettings }): Algorithm {
  return playWhileLearning({
    ...parts,
    settings,
    exploration: (steps) => explorationRate(settings, steps),
    updateOf: (common) => updateOf(settings, common),
  })
}

/** Falls linearly over the first steps of the run, then stays; by the steps that the run has made, so a resumed one goes on. */
export function explorationRate(settings: DqnSettings, steps: number): number {
  const { exploration_initial, exploration_final, exploration_steps } = settings
  return exploration_initial + (exploration_final - exploration_initial) * Math.min(1, steps / exploration_steps)
}

function updateOf(settings: DqnSettings, common: ReplayUpdate): DqnUpdate {
  const { target_update_interval, gradient_steps, train_frequency } = settings
  return {
    algorithm: 'dqn',
    ...common,
    gamma: settings.gamma,
    nStep: settings.n_step,
    doubleQ: settings.double_q,
    minibatchSize: settings.minibatch_size,
    targetInterval: Math.max(1, Math.round((target_update_interval * gradient_steps) / train_frequency)),
    tau: settings.tau,
    maxGradientNorm: settings.max_gradient_norm,
  }
}
