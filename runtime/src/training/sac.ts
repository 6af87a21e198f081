import type { SacSettings } from '@agentgym/contract'
import type { SacUpdate } from '../learner/learner-types.ts'
import type { Algorithm } from './algorithm.ts'
import { type OffPolicyParts, playWhileLearning, type ReplayUpdate } from './off-policy.ts'

/**
 * Soft actor-critic (Haarnoja et al. 2018a), with twin critics, and the entropy coefficient α learned (Haarnoja et al.
 * 2018b). From steps of any age,
 *
 *   critics  ½ mean((Q₁(s, a) - y)² + (Q₂(s, a) - y)²),  y = r + γ (min Q'ᵢ(s', a') - α log π(a'|s')),  a' ~ π(s')
 *   actor    mean(α log π(a|s) - min Qᵢ(s, a)),          a = tanh(mean(s) + σ(s) · noise) between the bounds
 *   α        mean(-log α (log π(a|s) + target entropy))
 *
 * `actionColumns` are the numbers of an action, all boxes together.
 */
export function sac({
  settings,
  actionColumns,
  ...parts
}: OffPolicyParts & { settings: SacSettings; actionColumns: number }): Algorithm {
  return playWhileLearning({
    ...parts,
    settings,
    // Uniform over the box until there is something to learn from.
    exploration: (steps) => (steps < settings.learning_starts ? 'uniform' : null),
    updateOf: (common) => updateOf(settings, actionColumns, common),
  })
}

function updateOf(settings: SacSettings, actionColumns: number, common: ReplayUpdate): SacUpdate {
  const { value, learned } = entropyCoefficient(settings)
  return {
    algorithm: 'sac',
    ...common,
    gamma: settings.gamma,
    minibatchSize: settings.minibatch_size,
    tau: settings.tau,
    entropyCoefficient: value,
    learnEntropyCoefficient: learned,
    targetEntropy: settings.target_entropy === 'auto' ? -actionColumns : settings.target_entropy,
  }
}

/** A number stays; `auto` and `auto_0.1` are learned, from 1 and from 0.1 on. */
function entropyCoefficient({ entropy_coefficient }: Pick<SacSettings, 'entropy_coefficient'>): {
  value: number
  learned: boolean
} {
  if (typeof entropy_coefficient === 'number') return { value: entropy_coefficient, learned: false }
  return { value: Number(entropy_coefficient.split('_')[1] ?? 1), learned: true }
}
