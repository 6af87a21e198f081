import { AgentGymError, type PolicySpec } from '@agentgym/contract'
import {
  type ActionComponents,
  actionComponents,
  type CategoricalComponent,
  type FixedComponent,
  type GaussianComponent,
} from './action-components.ts'
import { logSlope, squashed, unsquashed } from './squash.ts'

/** Names the random numbers of one vector step; nothing of them is stored anywhere. */
type SamplingKey = {
  /** The run's seed, unsigned 32-bit. */
  seed: number
  /** The run's step number, any safe integer. */
  step: number
  /** Global number of the environment in row 0. */
  firstEnvironment: number
}

type ActionRequest = {
  spec: PolicySpec
  /** [rows, distribution] */
  distribution: Float32Array
  /** [rows, mask], 1 legal; null where the scenario has no mask. */
  masks: Uint8Array | null
  rows: number
}

export type SamplingRequest = ActionRequest & {
  /**
   * log standard deviation of every box column: before the squash, or else in the action's own units. Not read where the
   * distribution row has them.
   */
  logStd: Float32Array
  key: SamplingKey
}

export type SampledActions = {
  /** [rows, action]; boxes as sampled: before the squash, or else before clipping. */
  actions: Float32Array
  /** [rows, action]; boxes in their own units, within their bounds. */
  environmentActions: Float32Array
  /** [rows]; log of the density of the whole action before clipping, in the action's own units. */
  logProbabilities: Float32Array
}

const HALF_LOG_TWO_PI = 0.5 * Math.log(2 * Math.PI)
const TO_UNIT = 2 ** -32

// Scratch memory, so that a step allocates nothing.
const words = new Int32Array(2)
let logProbabilities = new Float64Array(0)
let weights = new Float64Array(0)

/**
 * Samples an action for every row and its log-probability; what does not count, because another choice was made, is 0. Illegal categorical values have logit -infinity. Fails with
 * `training_diverged` where the distribution is not finite.
 */
export function sampleActions(request: SamplingRequest, out: SampledActions): void {
  const { rows, key } = request
  const components = actionComponents(request.spec)
  if (logProbabilities.length < rows) logProbabilities = new Float64Array(rows)
  logProbabilities.fill(0, 0, rows)
  // Seed and step fill the key; environment and component the counter. Steps beyond 2^32 go on in the component's word.
  const key0 = key.seed | 0
  const key1 = key.step | 0
  const stepHigh = Math.floor(key.step / 2 ** 32) << 16
  for (const component of components.categorical) {
    if (component.fixed !== null) {
      writeFixedChoice(component, component.fixed, components, request.masks, rows, out.actions)
      continue
    }
    const counter1 = stepHigh + component.block
    const pair = component.count === 2 && request.masks === null && component.when === null
    const sample = pair ? samplePair : sampleCategorical
    sample(request, components, component, key0, key1, counter1, out.actions)
  }
  for (const component of components.gaussian) {
    const counter1 = stepHigh + component.block
    sampleGaussian(request, components, component, key0, key1, counter1, out.actions)
  }
  for (const component of components.fixed) writeFixedNumber(component, components, rows, out.actions)
  let sum = 0
  for (let row = 0; row < rows; row++) {
    out.logProbabilities[row] = logProbabilities[row]
    sum += logProbabilities[row]
  }
  if (!Number.isFinite(sum)) throw notFinite()
  takeActions(out.actions, components, rows, out.environmentActions)
}

/**
 * The likeliest action for every row (the lowest index among equals, a box's mean), clipped to the bounds. The
 * distribution is that of an exported model, whose means are in the action's own units.
 */
export function greedyActions(request: ActionRequest, environmentActions: Float32Array): void {
  const { distribution, masks, rows } = request
  const components = actionComponents(request.spec)
  const { distributionSize, maskSize, actionSize } = components
  for (const component of components.categorical) {
    const { logits, count, mask, action, when, fixed } = component
    if (fixed !== null) {
      writeFixedChoice(component, fixed, components, masks, rows, environmentActions)
      continue
    }
    for (let row = 0; row < rows; row++) {
      if (when !== null && environmentActions[row * actionSize + when.column] !== when.choice) {
        environmentActions[row * actionSize + action] = 0
        continue
      }
      const first = row * distributionSize + logits
      const firstMask = row * maskSize + mask
      let best = Number.NEGATIVE_INFINITY
      let choice = -1
      for (let i = 0; i < count; i++) {
        if ((masks === null || masks[firstMask + i] === 1) && distribution[first + i] > best) {
          best = distribution[first + i]
          choice = i
        }
      }
      if (choice === -1) throw noChoice(masks, firstMask, count)
      environmentActions[row * actionSize + action] = choice
    }
  }
  for (const { mean, action, low, high, when } of components.gaussian) {
    for (let row = 0; row < rows; row++) {
      if (when !== null && environmentActions[row * actionSize + when.column] !== when.choice) {
        environmentActions[row * actionSize + action] = Math.min(high, Math.max(low, 0))
        continue
      }
      const value = distribution[row * distributionSize + mean]
      if (!Number.isFinite(value)) throw notFinite()
      environmentActions[row * actionSize + action] = Math.min(high, Math.max(low, value))
    }
  }
  for (const component of components.fixed) writeFixedNumber(component, components, rows, environmentActions)
}

/** `preferred`, or the first legal choice where it is masked. */
function writeFixedChoice(
  { count, mask, action, when }: CategoricalComponent,
  preferred: number,
  { maskSize, actionSize }: ActionComponents,
  masks: Uint8Array | null,
  rows: number,
  actions: Float32Array,
): void {
  for (let row = 0; row < rows; row++) {
    const at = row * actionSize + action
    const firstMask = row * maskSize + mask
    if (when !== null && actions[row * actionSize + when.column] !== when.choice) actions[at] = 0
    else if (masks === null || masks[firstMask + preferred] === 1) actions[at] = preferred
    else {
      const legal = masks.indexOf(1, firstMask) - firstMask
      if (legal < 0 || legal >= count) throw new Error('a mask without a legal action')
      actions[at] = legal
    }
  }
}

function writeFixedNumber(
  { action, value, when }: FixedComponent,
  { actionSize }: ActionComponents,
  rows: number,
  actions: Float32Array,
): void {
  for (let row = 0; row < rows; row++) {
    const counts = when === null || actions[row * actionSize + when.column] === when.choice
    actions[row * actionSize + action] = counts ? value : 0
  }
}

/** Inverse of the cumulative distribution at one uniform number, over the legal values in their order. */
function sampleCategorical(
  { distribution, masks, rows, key }: SamplingRequest,
  { distributionSize, maskSize, actionSize, largestCount }: ActionComponents,
  { logits, count, mask, action, when }: CategoricalComponent,
  key0: number,
  key1: number,
  counter1: number,
  actions: Float32Array,
): void {
  if (weights.length < largestCount) weights = new Float64Array(largestCount)
  for (let row = 0; row < rows; row++) {
    if (when !== null && actions[row * actionSize + when.column] !== when.choice) {
      actions[row * actionSize + action] = 0
      continue
    }
    const first = row * distributionSize + logits
    const firstMask = row * maskSize + mask
    let largest = Number.NEGATIVE_INFINITY
    for (let i = 0; i < count; i++) {
      if ((masks === null || masks[firstMask + i] === 1) && distribution[first + i] > largest)
        largest = distribution[first + i]
    }
    let total = 0
    for (let i = 0; i < count; i++) {
      const legal = masks === null || masks[firstMask + i] === 1
      weights[i] = legal ? Math.exp(distribution[first + i] - largest) : 0
      total += weights[i]
    }
    threefry2x32(key0, key1, key.firstEnvironment + row, counter1, words)
    const target = (words[0] >>> 0) * TO_UNIT * total
    let cumulative = 0
    let choice = -1
    for (let i = 0; i < count; i++) {
      if (weights[i] > 0) {
        // Rounding can leave the sum just below the target: the last possible value is then the one.
        choice = i
        cumulative += weights[i]
        if (target < cumulative) break
      }
    }
    if (choice === -1) throw noChoice(masks, firstMask, count)
    actions[row * actionSize + action] = choice
    logProbabilities[row] += distribution[first + choice] - largest - Math.log(total)
  }
}

/** `sampleCategorical` for two values and no mask, where one exponential and one logarithm do. */
function samplePair(
  { distribution, rows, key }: SamplingRequest,
  { distributionSize, actionSize }: ActionComponents,
  { logits, action }: CategoricalComponent,
  key0: number,
  key1: number,
  counter1: number,
  actions: Float32Array,
): void {
  for (let row = 0; row < rows; row++) {
    const first = row * distributionSize + logits
    const difference = distribution[first + 1] - distribution[first]
    // Odds of the less likely value against the likelier one, at most 1: cannot overflow.
    const odds = Math.exp(-Math.abs(difference))
    threefry2x32(key0, key1, key.firstEnvironment + row, counter1, words)
    const target = (words[0] >>> 0) * TO_UNIT * (1 + odds)
    const choice = target < (difference > 0 ? odds : 1) ? 0 : 1
    const likelier = difference > 0 ? 1 : 0
    actions[row * actionSize + action] = choice
    logProbabilities[row] -= (choice === likelier ? 0 : Math.abs(difference)) + Math.log(1 + odds)
  }
}

/**
 * Box and Muller's transform; the log-probability is that of the number as stored, rounded to float32. A squashed sample is
 * kept as u: log p(a) = log N(u) - log |da/du|, and no inverse of the squash is ever needed.
 */
function sampleGaussian(
  { distribution, logStd, rows, key }: SamplingRequest,
  { distributionSize, actionSize, deviationInRow }: ActionComponents,
  { half, mean, action, logStd: logStdColumn, squash, when }: GaussianComponent,
  key0: number,
  key1: number,
  counter1: number,
  actions: Float32Array,
): void {
  let logDeviation = deviationInRow ? 0 : logStd[logStdColumn]
  let deviation = Math.exp(logDeviation)
  for (let row = 0; row < rows; row++) {
    if (when !== null && actions[row * actionSize + when.column] !== when.choice) {
      actions[row * actionSize + action] = 0
      continue
    }
    if (deviationInRow) {
      logDeviation = distribution[row * distributionSize + logStdColumn]
      deviation = Math.exp(logDeviation)
    }
    threefry2x32(key0, key1, key.firstEnvironment + row, counter1, words)
    const radius = Math.sqrt(-2 * Math.log(((words[0] >>> 0) + 1) * TO_UNIT))
    const angle = 2 * Math.PI * TO_UNIT * (words[1] >>> 0)
    const noise = radius * (half === 0 ? Math.cos(angle) : Math.sin(angle))
    const center = distribution[row * distributionSize + mean]
    const at = row * actionSize + action
    actions[at] = center + deviation * noise
    const score = (actions[at] - center) / deviation
    logProbabilities[row] -= 0.5 * score * score + (logDeviation + HALF_LOG_TWO_PI)
    if (squash !== null) logProbabilities[row] -= logSlope(squash, actions[at])
  }
}

/** Samples in the environment's units: squashed where the policy squashes, and within the bounds. */
export function environmentActions(spec: PolicySpec, actions: Float32Array, rows: number, out: Float32Array): void {
  takeActions(actions, actionComponents(spec), rows, out)
}

/** A row of an exported model, whose means are actions, as `sampleActions` takes it: with the means before their squash. */
export function beforeSquash(spec: PolicySpec, distribution: Float32Array): Float32Array {
  const { gaussian } = actionComponents(spec)
  if (gaussian.every(({ squash }) => squash === null)) return distribution
  const row = distribution.slice()
  for (const { mean, squash } of gaussian) if (squash !== null) row[mean] = unsquashed(squash, row[mean])
  return row
}

function takeActions(actions: Float32Array, components: ActionComponents, rows: number, out: Float32Array): void {
  const { actionSize } = components
  for (let i = 0; i < rows * actionSize; i++) out[i] = actions[i]
  for (const { action, low, high, squash } of components.gaussian) {
    for (let row = 0; row < rows; row++) {
      const at = row * actionSize + action
      const value = squash === null ? actions[at] : squashed(squash, actions[at])
      out[at] = Math.min(high, Math.max(low, value))
    }
  }
}

function noChoice(masks: Uint8Array | null, firstMask: number, count: number): AgentGymError {
  // The engine fails an environment that leaves no legal action before its mask comes here.
  if (masks !== null && !masks.subarray(firstMask, firstMask + count).includes(1))
    throw new Error('a mask without a legal action')
  return notFinite()
}

function notFinite(): AgentGymError {
  return new AgentGymError({
    code: 'training_diverged',
    message: 'the policy gave a distribution that is not finite',
    hint: 'Lower the learning rate, or normalise observations (--set normalize_observation=true).',
  })
}

/**
 * Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011): two
 * random words from a key and a counter of two words each. Having no state, it needs nothing in a checkpoint and gives
 * an environment the same numbers whichever worker asks. Only additions, rotations and exclusive ors of 32 bits: about
 * 15 ns a call in V8.
 */
export function threefry2x32(key0: number, key1: number, counter0: number, counter1: number, out: Int32Array): void {
  const key2 = key0 ^ key1 ^ 0x1bd11bda
  let a = (counter0 + key0) | 0
  let b = (counter1 + key1) | 0

  a = (a + b) | 0
  b = ((b << 13) | (b >>> 19)) ^ a
  a = (a + b) | 0
  b = ((b << 15) | (b >>> 17)) ^ a
  a = (a + b) | 0
  b = ((b << 26) | (b >>> 6)) ^ a
  a = (a + b) | 0
  b = ((b << 6) | (b >>> 26)) ^ a
  a = (a + key1) | 0
  b = (b + key2 + 1) | 0

  a = (a + b) | 0
  b = ((b << 17) | (b >>> 15)) ^ a
  a = (a + b) | 0
  b = ((b << 29) | (b >>> 3)) ^ a
  a = (a + b) | 0
  b = ((b << 16) | (b >>> 16)) ^ a
  a = (a + b) | 0
  b = ((b << 24) | (b >>> 8)) ^ a
  a = (a + key2) | 0
  b = (b + key0 + 2) | 0

  a = (a + b) | 0
  b = ((b << 13) | (b >>> 19)) ^ a
  a = (a + b) | 0
  b = ((b << 15) | (b >>> 17)) ^ a
  a = (a + b) | 0
  b = ((b << 26) | (b >>> 6)) ^ a
  a = (a + b) | 0
  b = ((b << 6) | (b >>> 26)) ^ a
  a = (a + key0) | 0
  b = (b + key1 + 3) | 0

  a = (a + b) | 0
  b = ((b << 17) | (b >>> 15)) ^ a
  a = (a + b) | 0
  b = ((b << 29) | (b >>> 3)) ^ a
  a = (a + b) | 0
  b = ((b << 16) | (b >>> 16)) ^ a
  a = (a + b) | 0
  b = ((b << 24) | (b >>> 8)) ^ a
  a = (a + key1) | 0
  b = (b + key2 + 4) | 0

  a = (a + b) | 0
  b = ((b << 13) | (b >>> 19)) ^ a
  a = (a + b) | 0
  b = ((b << 15) | (b >>> 17)) ^ a
  a = (a + b) | 0
  b = ((b << 26) | (b >>> 6)) ^ a
  a = (a + b) | 0
  b = ((b << 6) | (b >>> 26)) ^ a
  out[0] = a + key2
  out[1] = b + key0 + 5
}
