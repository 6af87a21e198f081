import type { PolicySpec } from '@agentgym/contract'
import { expect } from 'vitest'
import { randomObservations } from '../../policy/testing/policy-cases.ts'
import type { Minibatch, PpoUpdate, RolloutSegment, Sequences, UpdateMetrics } from '../learner-types.ts'

/** CleanRL's settings, with one epoch and one minibatch unless a test says otherwise. */
export function ppoUpdate(changes: Partial<PpoUpdate> = {}): PpoUpdate {
  return {
    algorithm: 'ppo',
    gamma: 0.99,
    gaeLambda: 0.95,
    epochs: 1,
    minibatchSize: 1_000_000,
    optimizer: 'adam',
    learningRate: 2.5e-4,
    clipRange: 0.2,
    clipRangeValue: null,
    entropyCoefficient: 0.01,
    valueCoefficient: 0.5,
    maxGradientNorm: 0.5,
    targetKl: null,
    normalizeAdvantage: true,
    normalizeObservation: false,
    normalizeReward: false,
    seed: 7,
    ...changes,
  }
}

/** Columns of an action row and of a mask row. */
export function actionSizes(spec: PolicySpec): { action: number; mask: number } {
  return {
    action: spec.action.reduce((sum, leaf) => sum + leaf.size, 0),
    mask: spec.action.reduce((sum, leaf) => sum + leaf.counts.reduce((a, b) => a + b, 0), 0),
  }
}

/** Actions [rows, action] with masks [rows, mask] that allow them. */
function randomActions(spec: PolicySpec, rows: number, random: () => number, masked: boolean) {
  const sizes = actionSizes(spec)
  const actions = new Float32Array(rows * sizes.action)
  const masks = new Uint8Array(rows * sizes.mask).map(() => (random() < 0.5 ? 1 : 0))
  for (let row = 0; row < rows; row++) {
    for (const leaf of spec.action) {
      let mask = row * sizes.mask + leaf.maskOffset
      for (let i = 0; i < leaf.size; i++) {
        const at = row * sizes.action + leaf.offset + i
        if (leaf.kind === 'box') {
          const drawn = random() * 4 - 2
          actions[at] = leaf.squash === undefined ? leaf.center[i] + leaf.scale[i] * drawn : drawn
        } else {
          actions[at] = Math.floor(random() * leaf.counts[i])
          masks[mask + actions[at]] = 1
          mask += leaf.counts[i]
        }
      }
    }
  }
  return { actions, masks: masked && sizes.mask > 0 ? masks : null }
}

/** A minibatch whose ratios, advantages and values lie on both sides of every clip. */
export function randomMinibatch(spec: PolicySpec, size: number, random: () => number, masked: boolean): Minibatch {
  const spread = (scale: number) => Float32Array.from({ length: size }, () => (random() * 2 - 1) * scale)
  return {
    size,
    observations: randomObservations(spec, size, random),
    ...randomActions(spec, size, random, masked),
    // Moved near the policy's own by whoever needs ratios near 1.
    logProbabilities: spread(0.5),
    advantages: spread(2),
    returns: spread(2),
    values: spread(2),
    referenceLogProbabilities: null,
    ...(spec.memory === undefined ? {} : { sequences: randomSequences(spec, size, random) }),
  }
}

function randomStates(length: number, random: () => number): Float32Array {
  return Float32Array.from({ length }, () => random() * 2 - 1)
}

/** Cuts rows into sequences of random lengths with random initial states. */
function randomSequences(spec: PolicySpec, rows: number, random: () => number): Sequences {
  const lengths: number[] = []
  for (let left = rows; left > 0; left -= lengths[lengths.length - 1]) {
    lengths.push(Math.min(left, 1 + Math.floor(random() * 9)))
  }
  const units = spec.memory?.units ?? 0
  return { lengths: Int32Array.from(lengths), states: randomStates(lengths.length * 2 * units, random) }
}

/** A rollout of random numbers in shared memory, as workers give it. */
export function randomRollout(
  spec: PolicySpec,
  shape: { steps: number; environments: number; masked?: boolean; ends?: number },
  random: () => number,
): RolloutSegment {
  const { steps, environments, masked = false, ends = 0.1 } = shape
  const rows = steps * environments
  const flags = new Uint8Array(rows).map(() => (random() < ends ? 1 + Math.floor(random() * 3) : 0))
  return {
    steps,
    environments,
    observations: shared(randomObservations(spec, rows + environments, random)),
    finalObservations: shared(randomObservations(spec, rows, random)),
    actions: shared(randomActions(spec, rows, random, masked).actions),
    logProbabilities: shared(Float32Array.from({ length: rows }, () => -1 - random())),
    rewards: shared(Float32Array.from({ length: rows }, () => random() * 2 - 1)),
    flags,
    masks: null,
    lengths: null,
    states: spec.memory === undefined ? null : shared(randomStates(environments * spec.memory.units, random)),
  }
}

/** The same numbers over a SharedArrayBuffer. */
export function shared(values: Float32Array): Float32Array {
  const copy = new Float32Array(new SharedArrayBuffer(values.byteLength))
  copy.set(values)
  return copy
}

/** Both paths say the same, and say nothing where the other says nothing. */
export function expectSameMetrics(metrics: UpdateMetrics, reference: UpdateMetrics): void {
  for (const [name, value] of Object.entries(reference)) {
    if (value === null) expect(Reflect.get(metrics, name), name).toBeNull()
    else expect(Reflect.get(metrics, name), name).toBeCloseTo(value, 3)
  }
}

/** ‖a - b‖. */
export function distance(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i] - b[i]) ** 2
  return Math.sqrt(sum)
}

/** ‖a - b‖ / ‖b‖. */
export function relativeDistance(a: Float32Array, b: Float32Array): number {
  return distance(a, b) / Math.max(distance(b, new Float32Array(b.length)), 1e-12)
}
