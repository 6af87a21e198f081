/**
 * Estimates of a policy from episodes that another policy played (off-policy evaluation), without discounting.
 *
 * In episode i, ρ_t^i = Π_{k≤t} π(a_k|s_k) / μ(a_k|s_k) is how much likelier the estimated policy π is to have made the choices up to
 * step t than the logged policy μ. After its end an episode stays in a state that pays nothing, and its ρ stays what it was.
 */

/** One episode, a number for each step. */
export type WeightedEpisode = {
  /** ρ_t: the product of the ratios up to this step. */
  ratios: Float64Array
  rewards: Float64Array
  /** Q̂(s_t, a_t) and V̂(s_t) = Σ_a π(a|s_t) Q̂(s_t, a) of a model of the returns; 0 without one. */
  actionValues: Float64Array
  stateValues: Float64Array
}

/** How often each episode counts: 1, or what a bootstrap has drawn. */
export type Counts = Float64Array | Uint32Array

/** Mean return of the logged policy. */
export function loggedReturn(episodes: readonly WeightedEpisode[], counts: Counts): number {
  let [sum, all] = [0, 0]
  for (let i = 0; i < episodes.length; i += 1) {
    for (const reward of episodes[i].rewards) sum += counts[i] * reward
    all += counts[i]
  }
  return sum / all
}

/**
 * Weighted (self-normalized) per-decision importance sampling: Σ_t Σ_i w_t^i r_t^i with w_t^i = ρ_t^i / Σ_j ρ_t^j. Biased for few
 * episodes, and consistent. Each step is normalized by itself, so the sum can lie a little outside the range of the returns. Precup, Sutton and Singh, "Eligibility traces for off-policy
 * policy evaluation", ICML 2000. NaN where no episode has a weight.
 */
export function weightedImportanceSampling(episodes: readonly WeightedEpisode[], counts: Counts): number {
  let value = 0
  for (let t = 0; t < longest(episodes); t += 1) {
    let [paid, weight] = [0, 0]
    for (let i = 0; i < episodes.length; i += 1) {
      const { ratios, rewards } = episodes[i]
      const ratio = counts[i] * ratioAt(ratios, t)
      weight += ratio
      if (t < rewards.length) paid += ratio * rewards[t]
    }
    value += paid / weight
  }
  return value
}

/**
 * Weighted doubly robust: the model's value, corrected by the weighted errors that it made in the log:
 * Σ_t Σ_i w_t^i r_t^i − w_t^i Q̂(s_t, a_t) + w_{t−1}^i V̂(s_t), with w_{−1}^i = 1/n. Consistent if the logged probabilities are right,
 * whatever the model; a good model narrows it. Jiang and Li, "Doubly robust off-policy value evaluation for reinforcement learning",
 * ICML 2016; Thomas and Brunskill, "Data-efficient off-policy policy evaluation for reinforcement learning", ICML 2016, section 4.
 */
export function weightedDoublyRobust(episodes: readonly WeightedEpisode[], counts: Counts): number {
  let value = 0
  for (let t = 0; t < longest(episodes); t += 1) {
    let [corrected, weight, expected, before] = [0, 0, 0, 0]
    for (let i = 0; i < episodes.length; i += 1) {
      const { ratios, rewards, actionValues, stateValues } = episodes[i]
      const ratio = counts[i] * ratioAt(ratios, t)
      const previous = counts[i] * ratioAt(ratios, t - 1)
      weight += ratio
      before += previous
      if (t >= rewards.length) continue
      corrected += ratio * (rewards[t] - actionValues[t])
      expected += previous * stateValues[t]
    }
    value += corrected / weight + expected / before
  }
  return value
}

/**
 * Kish's effective sample size, (Σ ρ)² / Σ ρ² over the whole episodes: how many episodes of the policy itself would say as much.
 */
export function effectiveSampleSize(episodes: readonly WeightedEpisode[]): number {
  let [sum, squares] = [0, 0]
  for (const { ratios } of episodes) {
    const ratio = ratioAt(ratios, ratios.length - 1)
    sum += ratio
    squares += ratio ** 2
  }
  return squares === 0 ? 0 : sum ** 2 / squares
}

/**
 * The episodes with the highest and the lowest return, each twice, as if the policy had played them: at each step they are as heavy
 * as one effective episode, Σ ρ_t² / Σ ρ_t. Samples that draw them too can hold an outcome that the weighted episodes lack, as where
 * all of them succeed: a bootstrap of those alone would be sure of it. For a share of successes this is the interval of
 * Agresti and Coull, "Approximate is better than 'exact' for interval estimation of binomial proportions", 1998.
 */
export function extremeEpisodes(episodes: readonly WeightedEpisode[]): WeightedEpisode[] {
  const returnOf = ({ rewards }: WeightedEpisode) => rewards.reduce((sum, reward) => sum + reward, 0)
  const best = episodes.reduce((most, each) => (returnOf(each) > returnOf(most) ? each : most))
  const worst = episodes.reduce((least, each) => (returnOf(each) < returnOf(least) ? each : least))
  return [best, best, worst, worst].map((episode) => ({
    ...episode,
    ratios: episode.rewards.map((_, t) => effectiveWeight(episodes, t)),
  }))
}

/** Of one effective episode at a step. */
function effectiveWeight(episodes: readonly WeightedEpisode[], t: number): number {
  let [sum, squares] = [0, 0]
  for (const { ratios } of episodes) {
    sum += ratioAt(ratios, t)
    squares += ratioAt(ratios, t) ** 2
  }
  return squares / sum
}

/** ρ before the first step is 1, and after the last what it was. */
function ratioAt(ratios: Float64Array, t: number): number {
  return t < 0 ? 1 : ratios[Math.min(t, ratios.length - 1)]
}

function longest(episodes: readonly WeightedEpisode[]): number {
  return episodes.reduce((most, { rewards }) => Math.max(most, rewards.length), 0)
}
