import type { FixedStatistics } from '../policy/fixed-statistics.ts'

/**
 * One worker's rollout: T steps of N environments, structure of arrays, row-major [T, N, …], in shared memory.
 * Step t: `observations[t]`, `masks[t]` → `actions[t]` → `rewards[t]`, `flags[t]`, `observations[t + 1]`.
 */
export type RolloutSegment = {
  steps: number
  environments: number
  /** [T + 1, N, observation]; the last row is what the next rollout starts from. */
  observations: Float32Array
  /** [T, N, observation]; the true last observation in rows whose flags say TRUNCATED or TERMINATED, else undefined. */
  finalObservations: Float32Array
  /** [T, N, action]; categorical leaves as index from 0, box leaves as sampled, before they are squashed or clipped. */
  actions: Float32Array
  /** [T, N]; log-probability of the whole action under the policy that sampled it. */
  logProbabilities: Float32Array
  /** [T, N]; in the reward's own units. */
  rewards: Float32Array
  /** [T, N]; bit 0 terminated, bit 1 truncated. */
  flags: Uint8Array
  /** [T, N, mask], 1 legal; null where the scenario has no mask. */
  masks: Uint8Array | null
  /**
   * [N]; where every environment plays one episode from row 0 on, the steps that it took: later rows mean nothing. Null
   * where every row is a sample.
   */
  lengths: Int32Array | null
  /** [N, units]; what the actor of a policy with memory remembered before step 0. Null where it has no memory. */
  states: Float32Array | null
}

/** Rows that are sequences of a policy with memory, one after another. */
export type Sequences = {
  lengths: Int32Array
  /** [sequences, 2 × units]; what actor and critic remember before the first row of each. */
  states: Float32Array
}

/** What every algorithm's update has; schedules are already applied. */
type CommonUpdate = {
  epochs: number
  minibatchSize: number
  /** `rmsprop` is TensorFlow's variant. */
  optimizer: 'adam' | 'rmsprop'
  learningRate: number
  entropyCoefficient: number
  maxGradientNorm: number
  targetKl: number | null
  normalizeObservation: boolean
  /** Unsigned 32-bit; permutations of this update are drawn from it alone. */
  seed: number
}

/** Also A2C's: one epoch of one minibatch, without a clip. */
export type PpoUpdate = CommonUpdate & {
  algorithm: 'ppo'
  /** Null: no clip. */
  clipRange: number | null
  gamma: number
  gaeLambda: number
  clipRangeValue: number | null
  valueCoefficient: number
  normalizeAdvantage: boolean
  normalizeReward: boolean
}

/** For rollouts of whole episodes: segments with `lengths`. */
export type GrpoUpdate = CommonUpdate & {
  algorithm: 'grpo'
  clipRange: number
  /** Environments 0 to K - 1, K to 2K - 1, … of all segments together are groups. */
  groupSize: number
  /** Of the KL divergence from the reference policy; above 0 only after `setReference`. */
  klCoefficient: number
}

/** From the replay buffer, see `remember`. */
export type DqnUpdate = {
  algorithm: 'dqn'
  gamma: number
  nStep: number
  doubleQ: boolean
  gradientSteps: number
  minibatchSize: number
  /** Gradient steps, counted over the whole run, between updates of the target network. */
  targetInterval: number
  tau: number
  learningRate: number
  maxGradientNorm: number
  /** Unsigned 32-bit; the steps of this update are drawn from it alone. */
  seed: number
}

/** From the replay buffer, too. */
export type SacUpdate = {
  algorithm: 'sac'
  gamma: number
  gradientSteps: number
  minibatchSize: number
  /** Share of the critics' weights that their targets take over after each gradient step. */
  tau: number
  /** Of actor, critics and entropy coefficient. */
  learningRate: number
  /** What a learned one starts from, in the first update. */
  entropyCoefficient: number
  learnEntropyCoefficient: boolean
  /** Nats; of actions as the critics see them, so in units of the bounds. */
  targetEntropy: number
  /** Unsigned 32-bit; steps and actions of this update are drawn from it alone. */
  seed: number
}

export type Update = PpoUpdate | GrpoUpdate | DqnUpdate | SacUpdate

/** Means over the update's minibatches; NaN never leaves the learner: what cannot be computed is null. */
export type UpdateMetrics = {
  policyLoss: number | null
  valueLoss: number | null
  entropy: number | null
  approximateKl: number | null
  clipFraction: number | null
  explainedVariance: number | null
  /** Per step, k3 estimate. */
  klToReference: number | null
  /** Share of the groups whose returns are all equal, 0 to 1. */
  zeroVarianceGroups: number | null
  /** Mean value of the actions that were taken; SAC: that the actor would take. */
  valueMean: number | null
  /** SAC: after the update. */
  entropyCoefficient: number | null
  /** SAC: of the critics. */
  gradientNorm: number | null
  /** Where several processes learn together: computing this one's share of the gradients, and waiting and adding up. */
  gradientSeconds: number | null
  sharedSeconds: number | null
  epochsRun: number
  minibatchesRun: number
}

/** A minibatch for the gradient tests, flat [B, …]. */
export type Minibatch = {
  size: number
  observations: Float32Array
  actions: Float32Array
  logProbabilities: Float32Array
  advantages: Float32Array
  returns: Float32Array
  values: Float32Array
  masks: Uint8Array | null
  /** Of the actions under the reference policy; null where there is none. */
  referenceLogProbabilities: Float32Array | null
  /** Of a policy with memory. */
  sequences?: Sequences
  /** [B, action]; SAC: standard normal numbers that the actor's loss draws its actions with. */
  noise?: Float32Array
}

/** Of SAC's losses. */
export type SacGradients = { actor: Float32Array; critics: Float32Array; logEntropyCoefficient: number }

/** Who computes a gradient: libtorch's autograd in float32 or, to measure rounding errors against, in float64; or the fused kernels. */
export type GradientPath = 'autograd' | 'float64' | 'fused'

export interface Learner {
  readonly parameterCount: number
  /** The flat weight buffer, a copy: trainable parameters, then normalizer statistics and value scale. */
  weights(): Float32Array
  setWeights(weights: Float32Array): void
  /**
   * Begins from the weights of another run's agent: its normalizer's statistics count as those of `observations` rows, and
   * its values, in the reward's own units, stay what they are when the first update chooses the scale of rewards. The
   * optimizer is fresh.
   */
  startFrom(weights: Float32Array, observations: number): void
  /** Weights of the policy that a KL penalty holds this one to; a copy is kept, and no part of `state`. */
  setReference(weights: Float32Array): void
  /** Distribution rows [B, distribution] and values [B] (in the reward's own units), as the ONNX graph must give them. */
  forward(observations: Float32Array, batch: number): { distribution: Float32Array; values: Float32Array }
  /** The same for sequences of a policy with memory, with the state after the last row of each. */
  forwardSequences(
    observations: Float32Array,
    batch: number,
    sequences: Sequences,
  ): { distribution: Float32Array; values: Float32Array; states: Float32Array }
  /**
   * Advantages, then `epochs` passes of minibatch updates, then new statistics for the normalisers. PPO's advantages are
   * GAE's; GRPO's are an episode's return against those of its group. Runs off the main thread.
   * DQN and SAC learn from the replay buffer, and take an empty rollout.
   * Fails with `training_diverged` where weights or losses stop being finite; weights are then those before the update.
   */
  update(rollout: RolloutSegment[], update: Update): Promise<UpdateMetrics>
  /**
   * Appends a rollout to the replay buffer, and its observations to the normalizer's statistics. The first call makes the
   * buffer, with room for `capacity` environment steps. A rollout goes on where the one before ended.
   */
  remember(rollout: RolloutSegment[], options: { capacity: number; normalizeObservation: boolean }): void
  /** Environment steps in the replay buffer, and the bytes that they add to `state`. */
  remembered(): { steps: number; bytes: number }
  /**
   * What an update moves the value of each step in the replay buffer to, oldest first, environment by environment. SAC's, with
   * the `entropyCoefficient` of the update.
   */
  targets(update: DqnUpdate | SacUpdate): Float32Array
  /**
   * What `update` would use for a rollout: values, advantages and returns. PPO: [T × N] a segment, in order. GRPO: the
   * samples of each environment's episode one after another, returns being the episode's, values 0.
   */
  advantages(
    rollout: RolloutSegment[],
    update: Update,
  ): { values: Float32Array; advantages: Float32Array; returns: Float32Array }
  /** Gradient of the loss over one minibatch, before clipping. */
  gradient(minibatch: Minibatch, update: Update, path: GradientPath): Float32Array
  /**
   * Gradients of SAC's losses over one minibatch, whose `returns` are the critics' targets, at the `entropyCoefficient` of the
   * update. That of the critics is as long as their weights, with zeros for statistics.
   */
  sacGradients(minibatch: Minibatch, update: SacUpdate, path: GradientPath): SacGradients
  /** SAC's critics, in the order of `criticLayout`; setting them sets their targets as well. */
  criticWeights(): Float32Array
  setCriticWeights(weights: Float32Array): void
  /** Whether the fused path covers this policy. */
  readonly fused: boolean
  /** Everything besides the weights that a resumed run needs: the optimizer's moments and step, counts of the statistics, target networks, SAC's critics and entropy coefficient and, unless left out, the replay buffer. */
  state(options?: { replay: boolean }): Uint8Array
  setState(state: Uint8Array): void
  dispose(): void
}

export type LearnerOptions = {
  seed: number
  /** `cpu`, `cuda`, or `cuda:1` for the second GPU. */
  device: string
  threads: number
  path?: 'auto' | 'autograd' | 'fused'
  /** Statistics of the normalizer that do not follow the observations. Absent: all do. */
  statistics?: FixedStatistics
  /**
   * The processes that learn together, by PPO, A2C or GRPO: each calls `update` with what its environments played, and all
   * have the same weights before and after. `state` and `setState` are of all environments.
   */
  ranks?: NativeRanks
}

/** Where a process stands among those that train together, and what it plays. */
export type RankPlace = {
  /** Among the processes of its machine. */
  local: number
  /** Among all. */
  rank: number
  /** Of all. */
  size: number
  /** Of all environments. */
  firstEnvironment: number
  environments: number
  allEnvironments: number
}

/** The class that the addon exports; runtime/learner/src/binding_ranks.cc is its other side. */
export interface NativeRanks {
  share(bytes: Uint8Array): Promise<Uint8Array[]>
}

/** Where the machines of a run meet; the first of them (0) listens there. */
export type Rendezvous = {
  address: string
  port: number
  host: number
  hosts: number
  timeoutSeconds: number
  /** What only the run's machines know, and what each of them shows to the others. Absent: anyone may come. */
  secret?: string
  proofs?: string[]
}

export interface NativeRankHub {
  descriptor(): number
  joinHosts(rendezvous: Rendezvous, greeting: string): Promise<string[]>
  abort(reason: string): void
  close(): void
}
