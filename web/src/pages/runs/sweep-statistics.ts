import type { Run } from '@agentgym/contract'

/** A run with its score and its settings. */
export type Trial = { run: Run; score: number; values: Record<string, unknown> }

/** A setting that differs between trials. `values` in order: numbers by size, others by name. */
export type SweptSetting = {
  name: string
  kind: 'number' | 'category'
  /** Numbers of several orders of magnitude have a logarithmic axis. */
  scale: 'linear' | 'log'
  /** The distinct ones. */
  values: unknown[]
  /**
   * How strongly the score depends on it, 0 to 1: for numbers the size of Spearman's rank correlation, for others the square
   * root of the share of variance between their means (the correlation ratio).
   */
  importance: number
  /** Of a number: whether higher values go with higher scores. */
  direction: 'higher' | 'lower' | null
}

/** Settings that differ, the most important first. */
export function sweptSettings(trials: Trial[]): SweptSetting[] {
  const names = [...new Set(trials.flatMap(({ values }) => Object.keys(values)))]
  return names
    .map((name) => sweptSetting(name, trials))
    .filter(({ values }) => values.length > 1)
    .sort((a, b) => b.importance - a.importance)
}

function sweptSetting(name: string, trials: Trial[]): SweptSetting {
  const given = trials.map(({ values }) => values[name] ?? null)
  const scores = trials.map(({ score }) => score)
  const keys = [...new Map(given.map((value) => [JSON.stringify(value), value])).values()]
  const numbers = given.filter((value) => typeof value === 'number')
  if (numbers.length === given.length) {
    const correlation = rankCorrelation(numbers, scores)
    const values = keys.filter((value) => typeof value === 'number').sort((a, b) => a - b)
    const [low, high] = [values[0], values[values.length - 1]]
    const scale = low > 0 && high / low > 20 ? 'log' : 'linear'
    const direction = correlation === 0 ? null : correlation > 0 ? 'higher' : 'lower'
    return { name, kind: 'number', scale, values, importance: Math.abs(correlation), direction }
  }
  const values = keys.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  const importance = correlationRatio(
    given.map((value) => JSON.stringify(value)),
    scores,
  )
  return { name, kind: 'category', scale: 'linear', values, importance, direction: null }
}

/** Spearman's: Pearson's correlation of ranks, where equal values share their mean rank; 0 for a level series. */
export function rankCorrelation(a: number[], b: number[]): number {
  const [x, y] = [ranks(a), ranks(b)]
  const [meanX, meanY] = [mean(x), mean(y)]
  const sum = (part: (index: number) => number) => x.reduce((total, _, index) => total + part(index), 0)
  const spread = Math.sqrt(sum((i) => (x[i] - meanX) ** 2) * sum((i) => (y[i] - meanY) ** 2))
  return spread === 0 ? 0 : sum((i) => (x[i] - meanX) * (y[i] - meanY)) / spread
}

function ranks(values: number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b)
  return values.map((value) => (sorted.indexOf(value) + sorted.lastIndexOf(value)) / 2)
}

function correlationRatio(groups: string[], scores: number[]): number {
  const overall = mean(scores)
  const total = scores.reduce((sum, score) => sum + (score - overall) ** 2, 0)
  if (total === 0) return 0
  const members = [...Map.groupBy(scores.keys(), (index) => groups[index]).values()]
  const between = members.reduce((sum, indices) => {
    return sum + indices.length * (mean(indices.map((index) => scores[index])) - overall) ** 2
  }, 0)
  return Math.sqrt(between / total)
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
