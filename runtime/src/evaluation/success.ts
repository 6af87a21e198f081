import type { Evaluation, SuccessCriteria } from '@agentgym/contract'

/** Holds measured means against the scenario's criteria; a metric that was never reported counts as missed. */
export function judgeSuccess(
  criteria: SuccessCriteria,
  returnMean: number | null,
  metrics: Record<string, number>,
): Evaluation['success'] {
  const judged = Object.entries(criteria).map(([metric, target]) => {
    const value = metric === 'return_mean' ? returnMean : Object.hasOwn(metrics, metric) ? metrics[metric] : null
    return { metric, target, value, ok: value !== null && value >= target }
  })
  return { ok: judged.length === 0 ? null : judged.every((criterion) => criterion.ok), criteria: judged }
}

/** Orders evaluations: criteria met first, then how near the worst criterion is to its target, then the return. */
export function isBetter(candidate: Evaluation, incumbent: Evaluation): boolean {
  const a = rank(candidate)
  const b = rank(incumbent)
  for (let i = 0; i < a.length; i++) {
    if (a[i] !== b[i]) return a[i] > b[i]
  }
  return false
}

function rank(evaluation: Evaluation): number[] {
  const { ok, criteria } = evaluation.success
  const shortfalls = criteria.map(({ target, value }) =>
    value === null ? Number.NEGATIVE_INFINITY : Math.min(0, (value - target) / Math.max(Math.abs(target), 1e-9)),
  )
  return [ok === true ? 1 : 0, Math.min(0, ...shortfalls), evaluation.return_mean ?? Number.NEGATIVE_INFINITY]
}
