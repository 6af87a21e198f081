/** What a candidate was and how well it did, larger is better. */
export type Observation = { settings: Record<string, unknown>; score: number }

export type Importance = { setting: string; share: number }

/** Numbers are put into this many bins of equal size. */
const BINS = 4
/** With fewer candidates, chance alone explains a third of the variance. */
const LEAST_CANDIDATES = 24

/**
 * For each setting the share of the variance of the candidates' ranks that its bins explain: ε² of a one-way analysis of
 * variance (Kelley 1935), which is η² without what bins of random numbers would explain. It sees what a setting does by
 * itself over the whole search space, not interactions; shares do not add up to 1. Largest first; empty with fewer than 24
 * candidates.
 */
export function settingImportance(observations: readonly Observation[]): Importance[] {
  if (observations.length < LEAST_CANDIDATES) return []
  const ranks = ranksOf(observations.map(({ score }) => score))
  const names = [...new Set(observations.flatMap(({ settings }) => Object.keys(settings)))]
  return names
    .map((setting) => ({
      setting,
      share: explainedShare(ranks, binsOf(observations.map((one) => one.settings[setting]))),
    }))
    .sort((a, b) => b.share - a.share || (a.setting < b.setting ? -1 : 1))
}

/** From 0; equal scores share the mean of their ranks. */
function ranksOf(scores: number[]): number[] {
  return scores.map((score) => {
    const below = scores.filter((other) => other < score).length
    const equal = scores.filter((other) => other === score).length
    return below + (equal - 1) / 2
  })
}

function binsOf(values: unknown[]): string[] {
  const distinct = new Set(values.map((value) => JSON.stringify(value)))
  const numbers = values.filter((value) => typeof value === 'number')
  if (numbers.length < values.length || distinct.size <= BINS) return values.map((value) => JSON.stringify(value) ?? '')
  const sorted = numbers.toSorted((a, b) => a - b)
  const edges = Array.from({ length: BINS - 1 }, (_, i) => sorted[Math.floor(((i + 1) * sorted.length) / BINS)])
  return numbers.map((value) => String(edges.filter((edge) => value >= edge).length))
}

function explainedShare(ranks: number[], bins: string[]): number {
  const groups = new Map<string, number[]>()
  for (const [i, rank] of ranks.entries()) groups.set(bins[i], [...(groups.get(bins[i]) ?? []), rank])
  const all = mean(ranks)
  const total = ranks.reduce((sum, rank) => sum + (rank - all) ** 2, 0)
  const free = ranks.length - groups.size
  if (total === 0 || free <= 0 || groups.size < 2) return 0
  const between = [...groups.values()].reduce((sum, group) => sum + group.length * (mean(group) - all) ** 2, 0)
  const within = total - between
  return Math.max(0, 1 - within / free / (total / (ranks.length - 1)))
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
