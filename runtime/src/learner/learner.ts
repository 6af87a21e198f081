import { ok } from 'node:assert/strict'
import type { PolicySpec } from '@agentgym/contract'
import type { FixedStatistics } from '../policy/fixed-statistics.ts'
import { criticLayout, type ParameterLayout, parameterLayout } from '../policy/parameter-layout.ts'
import { loadAddon, type NativeLearner, translated, translateError } from './addon.ts'
import { CPU, type Cuda, deviceNumber, requireDevice } from './learner-device.ts'
import type {
  DqnUpdate,
  GradientPath,
  Learner,
  LearnerOptions,
  Minibatch,
  RolloutSegment,
  SacGradients,
  SacUpdate,
  Sequences,
  Update,
  UpdateMetrics,
} from './learner-types.ts'

/**
 * Makes a learner with weights drawn from `options.seed`. `path` chooses who computes gradients: `auto` takes the fused
 * kernels on the CPU and libtorch's autograd on CUDA. Fails with `setup_incomplete` where the addon was not built, and
 * with `execution_provider_unavailable` where libtorch has no such device.
 */
export function createLearner(spec: PolicySpec, options: LearnerOptions): Learner {
  return new AddonLearner(spec, options)
}

class AddonLearner implements Learner {
  readonly parameterCount: number
  readonly fused: boolean
  readonly #native: NativeLearner

  constructor(spec: PolicySpec, options: LearnerOptions) {
    const { seed, device, threads, path = 'auto' } = options
    ok(Number.isInteger(seed) && seed >= 0, `seed ${seed} is not a non-negative integer`)
    ok(Number.isInteger(threads) && threads >= 0, `threads ${threads} is not a non-negative integer`)
    ok(deviceNumber(device) === CPU || path !== 'fused', 'the fused path computes on the CPU only')
    const layout = parameterLayout(spec)
    const critics = spec.head === 'squashed_gaussian' ? criticLayout(spec) : null
    this.fused = !usesAutograd(device, path)
    this.parameterCount = layout.totalSize
    const { NativeLearner, cuda } = loadAddon()
    if (deviceNumber(device) !== CPU) requireDevice(device, translated(cuda))
    const { statistics } = options
    const columns = spec.observation.reduce((sum, { kind, size }) => sum + (kind === 'box' ? size : 0), 0)
    const fixed = Float32Array.from(statistics?.fixed ?? new Uint8Array(columns))
    this.#native = translated(
      () =>
        new NativeLearner(spec, layout, {
          seed,
          path: this.fused ? 'fused' : 'autograd',
          device: deviceNumber(device),
          threads,
          fixed,
          critics,
          ranks: options.ranks ?? null,
        }),
    )
    if (statistics !== undefined) this.setWeights(withStatistics(this.weights(), layout, statistics))
  }

  weights(): Float32Array {
    return translated(() => this.#native.weights())
  }

  setWeights(weights: Float32Array): void {
    translated(() => this.#native.setWeights(weights))
  }

  startFrom(weights: Float32Array, observations: number): void {
    translated(() => this.#native.startFrom(weights, observations))
  }

  setReference(weights: Float32Array): void {
    translated(() => this.#native.setReference(weights))
  }

  forward(observations: Float32Array, batch: number): { distribution: Float32Array; values: Float32Array } {
    return translated(() => this.#native.forward(observations, batch))
  }

  forwardSequences(observations: Float32Array, batch: number, sequences: Sequences) {
    return translated(() => this.#native.forwardSequences(observations, batch, sequences))
  }

  async update(rollout: RolloutSegment[], update: Update): Promise<UpdateMetrics> {
    try {
      return await this.#native.update(rollout, update)
    } catch (error) {
      throw translateError(error)
    }
  }

  advantages(
    rollout: RolloutSegment[],
    update: Update,
  ): { values: Float32Array; advantages: Float32Array; returns: Float32Array } {
    return translated(() => this.#native.advantages(rollout, update))
  }

  gradient(minibatch: Minibatch, update: Update, path: GradientPath): Float32Array {
    return translated(() => this.#native.gradient(minibatch, update, path))
  }

  remember(rollout: RolloutSegment[], options: { capacity: number; normalizeObservation: boolean }): void {
    translated(() => this.#native.remember(rollout, options))
  }

  remembered(): { steps: number; bytes: number } {
    return translated(() => this.#native.remembered())
  }

  sacGradients(minibatch: Minibatch, update: SacUpdate, path: GradientPath): SacGradients {
    return translated(() => this.#native.sacGradients(minibatch, update, path))
  }

  criticWeights(): Float32Array {
    return translated(() => this.#native.criticWeights())
  }

  setCriticWeights(weights: Float32Array): void {
    translated(() => this.#native.setCriticWeights(weights))
  }

  targets(update: DqnUpdate | SacUpdate): Float32Array {
    return translated(() => this.#native.targets(update))
  }

  state({ replay }: { replay: boolean } = { replay: true }): Uint8Array {
    return translated(() => this.#native.state(replay))
  }

  setState(state: Uint8Array): void {
    translated(() => this.#native.setState(state))
  }

  dispose(): void {
    this.#native.dispose()
  }
}

function withStatistics(
  weights: Float32Array,
  { parameters }: ParameterLayout,
  { fixed, mean, variance }: FixedStatistics,
): Float32Array {
  for (const [name, values] of Object.entries({ 'normalizer.mean': mean, 'normalizer.variance': variance })) {
    const parameter = parameters.find((other) => other.name === name)
    if (parameter === undefined) continue
    ok(parameter.size === fixed.length, 'one entry a column of the normalizer')
    for (let i = 0; i < fixed.length; i++) if (fixed[i] === 1) weights[parameter.offset + i] = values[i]
  }
  return weights
}

/**
 * Loads what learners of this path need beyond the addon: libtorch for autograd, which takes longer than the rest of a start,
 * and what the driver needs to compute on a GPU. Otherwise the first such learner loads it, which a locked-down job cannot.
 */
export function loadPath(device: string, path: LearnerOptions['path'] = 'auto'): void {
  const { loadAutograd, openDevice } = loadAddon()
  if (usesAutograd(device, path)) translated(loadAutograd)
  if (deviceNumber(device) === CPU) return
  requireDevice(device, cudaOfLearner())
  translated(() => openDevice(deviceNumber(device)))
}

/** What the learner's libtorch can compute on. Loads it: some 0.4 s. */
export function cudaOfLearner(): Cuda {
  return translated(loadAddon().cuda)
}

function usesAutograd(device: string, path: LearnerOptions['path']): boolean {
  return deviceNumber(device) !== CPU || path === 'autograd'
}
