/**
 * How metrics of runs and evaluations read: units, digits, and whether targets are met. A subpath of its own
 * (`@agentgym/contract/metrics`), so that browsers load it without the schemas.
 */
import type { Evaluation } from './agent-manifest.ts'

/** A `share` reads in percent. */
export type MetricUnit = 'number' | 'share'

type Success = Evaluation['success']
export type Criterion = Success['criteria'][number]

/** Metrics that are shares by their name alone, as the guide for scenarios names them. */
const shares = new Set(['solved', 'success', 'won', 'accuracy', 'harmless', 'tool_reliability'])

/** Returns and lengths are numbers. Others are shares by their name, or by a target in (0, 1]. */
export function metricUnit(metric: string, target: number | null = null): MetricUnit {
  if (metric === 'return_mean' || metric === 'length_mean') return 'number'
  if (shares.has(metric) || metric.endsWith('_rate')) return 'share'
  return target !== null && target > 0 && target <= 1 ? 'share' : 'number'
}

/** `return_mean` is `return`, `tool_reliability` is `tool reliability`. */
export function metricLabel(metric: string): string {
  return metric.replace(/^(return|length)_mean$/, '$1').replaceAll('_', ' ')
}

/**
 * About three significant digits: `97%`, `500` for 499.7, `−151`, `12.3M`, `1.2e−7`. A share below 1 never reads 100%, and one
 * above 0 never 0%. A dash for null and what is no finite number.
 */
export function formatMetric(value: number | null | undefined, unit: MetricUnit = 'number'): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–'
  return withMinus(unit === 'share' ? shareText(value) : numberText(value))
}

// Made once: with options, toLocaleString makes one for every number.
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const exact = new Intl.NumberFormat('en', { maximumFractionDigits: 6 })
const significant = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 })
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 })

function numberText(value: number): string {
  const size = Math.abs(value)
  if (size === 0) return '0'
  if (size >= 1e15 || size < 1e-3) return value.toExponential(1).replace('e+', 'e')
  if (size >= 1e6) return compact.format(value)
  return size >= 99.95 ? whole.format(value) : significant.format(value)
}

function shareText(value: number): string {
  const percent = 100 * value
  const size = Math.abs(percent)
  if (size === 0) return '0%'
  if (size < 0.1) return percent < 0 ? '0%' : '<0.1%'
  if (size < 1) return `${percent.toFixed(1)}%`
  if (size > 99 && size < 100) return `${Math.sign(percent) * Math.min(99.9, Number(size.toFixed(1)))}%`
  return size < 1e6 ? `${whole.format(percent)}%` : `${numberText(percent)}%`
}

/** A target as its author wrote it: `475`, `97.5%`. */
export function formatTarget(target: number, unit: MetricUnit): string {
  if (unit === 'share') return withMinus(`${exact.format(Number((100 * target).toPrecision(12)))}%`)
  return withMinus(Math.abs(target) >= 1e9 || exact.format(target) === '0' ? numberText(target) : exact.format(target))
}

/** Value and target of a criterion, with more digits where a missed target would read as met: `94.9%` of `95%`. */
export function criterionTexts({ metric, target, value, ok }: Criterion): { value: string; target: string } {
  const unit = metricUnit(metric, target)
  const targetText = formatTarget(target, unit)
  const text = formatMetric(value, unit)
  if (ok || value === null || text !== targetText) return { value: text, target: targetText }
  const scale = unit === 'share' ? 100 : 1
  const least = Math.min(6, Math.max(1, 2 - Math.floor(Math.log10(Math.abs(target * scale) || 1))))
  for (let digits = least; digits <= least + 6; digits++) {
    // Down, never up to the target.
    const cut = Math.floor(value * scale * 10 ** digits) / 10 ** digits
    if (cut >= target * scale || cut.toFixed(digits) === (target * scale).toFixed(digits)) continue
    return { value: withMinus(`${cut.toFixed(digits)}${unit === 'share' ? '%' : ''}`), target: targetText }
  }
  return { value: `<${targetText}`, target: targetText }
}

/** The criterion that stands for all: the first that is missed, else the first; undefined without criteria. */
export function decisiveCriterion({ criteria }: Pick<Success, 'criteria'>): Criterion | undefined {
  return criteria.find(({ ok }) => !ok) ?? criteria.at(0)
}

/** `Solved: return 500 of 475`, `Not solved: solved 94.9% of 95% (1 of 2 targets met)`, `Return 12.3` without targets. */
export function outcomeText(evaluation: Pick<Evaluation, 'success' | 'return_mean'>): string {
  const { success, return_mean } = evaluation
  const criterion = decisiveCriterion(success)
  if (criterion === undefined) return `Return ${formatMetric(return_mean)}`
  const { value, target } = criterionTexts(criterion)
  const { length } = success.criteria
  const met = success.criteria.filter(({ ok }) => ok).length
  const others = length === 1 ? '' : ` (${met === length ? `all ${length}` : `${met} of ${length}`} targets met)`
  return `${success.ok ? 'Solved' : 'Not solved'}: ${metricLabel(criterion.metric)} ${value} of ${target}${others}`
}

function withMinus(text: string): string {
  return text.replaceAll('-', '−')
}
