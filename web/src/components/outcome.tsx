import type { Evaluation } from '@agentgym/contract'
import { criterionTexts, decisiveCriterion, formatMetric, metricLabel } from '@agentgym/contract/metrics'
import { Icon } from './icon.tsx'

type OutcomeProps = {
  /** Absent: not known, as with older servers. */
  success: Evaluation['success'] | undefined
  /** Shown where there are no targets. */
  returnMean: number | null
  /** `short` leaves out the metric, for narrow columns. */
  form?: 'full' | 'short'
}

/**
 * `Solved ✓ 500 / 475 return`: whether the targets are met, with value and target of the first that is missed, else of the
 * first. Without targets, the return alone.
 */
export function Outcome({ success, returnMean, form = 'full' }: OutcomeProps) {
  const criterion = success === undefined ? undefined : decisiveCriterion(success)
  if (success === undefined || criterion === undefined)
    return (
      <span class="outcome" title={success === undefined ? 'Mean return' : 'Mean return; the scenario has no targets'}>
        {form === 'full' && <span class="outcome-metric">Return </span>}
        <span class="outcome-value">{formatMetric(returnMean)}</span>
      </span>
    )
  const { value, target } = criterionTexts(criterion)
  return (
    <span class={`outcome outcome-${success.ok ? 'solved' : 'missed'}`} title={describeCriteria(success)}>
      <span class="outcome-word">
        {success.ok ? 'Solved' : 'Not solved'} <Icon name={success.ok ? 'check' : 'x'} size={14} />
      </span>{' '}
      <span class="outcome-value">
        {value}
        <span class="outcome-target"> / {target}</span>
      </span>
      {form === 'full' && <span class="outcome-metric"> {metricLabel(criterion.metric)}</span>}
    </span>
  )
}

/** `return 500 / 475, harmless 97% / 95%` */
function describeCriteria({ criteria }: Evaluation['success']): string {
  return criteria
    .map((criterion) => {
      const { value, target } = criterionTexts(criterion)
      return `${metricLabel(criterion.metric)} ${value} / ${target}`
    })
    .join(', ')
}
