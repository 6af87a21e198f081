/**
 * A model of the returns for the doubly robust estimate: fitted Q evaluation with ridge regression, linear in the features of an
 * observation, one set of weights an action. Le, Voloshin and Yue, "Batch policy learning under constraints", ICML 2019, section 4.
 */

/** One step as the model sees it. */
export type ModelStep = {
  /** Features of the observation; all steps have as many. */
  features: Float64Array
  /** The logged action, from 0. */
  action: number
  /** π(a|s) of the estimated policy, for each action. */
  policy: Float64Array
  reward: number
}

export type FittedValues = { actionValues: Float64Array; stateValues: Float64Array }

/** Rounds of the regression; values travel one step back in each. */
const ROUNDS = 20
/** Ridge penalty, as a share of the steps of an action. */
const RIDGE = 0.01
const FOLDS = 5

/**
 * Q̂ and V̂ at every step of every episode, by a model that was fitted without the fold of the episode: so that its errors are
 * independent of the episode's rewards.
 */
export function crossFittedValues(episodes: readonly (readonly ModelStep[])[]): FittedValues[] {
  const values: FittedValues[] = new Array(episodes.length)
  const folds = Math.min(FOLDS, episodes.length)
  for (let fold = 0; fold < folds; fold += 1) {
    const weights = fitModel(episodes.filter((_, i) => i % folds !== fold))
    for (let i = fold; i < episodes.length; i += folds) {
      values[i] = {
        actionValues: Float64Array.from(episodes[i], ({ features, action }) => dot(weights[action], features)),
        stateValues: Float64Array.from(episodes[i], (step) => stateValue(weights, step)),
      }
    }
  }
  return values
}

/** Weights by action, with the intercept last. */
function fitModel(episodes: readonly (readonly ModelStep[])[]): Float64Array[] {
  const [first] = episodes.flat()
  if (first === undefined) return []
  const actions = first.policy.length
  const size = first.features.length + 1
  const steps = episodes.flatMap((episode) => episode.map((step, t) => ({ step, next: episode[t + 1] })))
  const grams = Array.from({ length: actions }, () => new Float64Array(size * size))
  const counts = new Uint32Array(actions)
  for (const { step } of steps) {
    counts[step.action] += 1
    addOuter(grams[step.action], step.features, size)
  }
  for (let a = 0; a < actions; a += 1) {
    // The intercept is not penalized much: a constant return must be learned.
    for (let i = 0; i < size; i += 1) grams[a][i * size + i] += i === size - 1 ? 1e-6 : 1e-6 + RIDGE * counts[a]
    factorize(grams[a], size)
  }
  let weights: Float64Array[] = Array.from({ length: actions }, () => new Float64Array(size))
  const rounds = episodes.reduce((most, { length }) => Math.min(ROUNDS, Math.max(most, length)), 0)
  for (let round = 0; round < rounds; round += 1) {
    const sides = Array.from({ length: actions }, () => new Float64Array(size))
    for (const { step, next } of steps) {
      const target = step.reward + (next === undefined ? 0 : stateValue(weights, next))
      const side = sides[step.action]
      for (let i = 0; i < size - 1; i += 1) side[i] += target * step.features[i]
      side[size - 1] += target
    }
    weights = sides.map((side, a) => solve(grams[a], side, size))
  }
  return weights
}

function stateValue(weights: readonly Float64Array[], { policy, features }: ModelStep): number {
  let value = 0
  for (let a = 0; a < policy.length; a += 1) if (policy[a] > 0) value += policy[a] * dot(weights[a], features)
  return value
}

function dot(weights: Float64Array, features: Float64Array): number {
  let sum = weights[features.length]
  for (let i = 0; i < features.length; i += 1) sum += weights[i] * features[i]
  return sum
}

function addOuter(gram: Float64Array, features: Float64Array, size: number): void {
  for (let i = 0; i < size; i += 1) {
    const left = i < size - 1 ? features[i] : 1
    if (left === 0) continue
    for (let j = 0; j <= i; j += 1) gram[i * size + j] += left * (j < size - 1 ? features[j] : 1)
  }
}

/** Cholesky, in place, of a positive definite matrix whose lower triangle is filled. */
function factorize(matrix: Float64Array, size: number): void {
  for (let j = 0; j < size; j += 1) {
    for (let i = j; i < size; i += 1) {
      let sum = matrix[i * size + j]
      for (let k = 0; k < j; k += 1) sum -= matrix[i * size + k] * matrix[j * size + k]
      matrix[i * size + j] = i === j ? Math.sqrt(Math.max(sum, 1e-12)) : sum / matrix[j * size + j]
    }
  }
}

/** The solution of L Lᵀ x = b. */
function solve(lower: Float64Array, side: Float64Array, size: number): Float64Array {
  const solution = Float64Array.from(side)
  for (let i = 0; i < size; i += 1) {
    for (let k = 0; k < i; k += 1) solution[i] -= lower[i * size + k] * solution[k]
    solution[i] /= lower[i * size + i]
  }
  for (let i = size - 1; i >= 0; i -= 1) {
    for (let k = i + 1; k < size; k += 1) solution[i] -= lower[k * size + i] * solution[k]
    solution[i] /= lower[i * size + i]
  }
  return solution
}
