import { compareEvaluations, type Evaluation, type EvaluationDifference } from '@agentgym/contract'
import { formatCount, formatValue } from '../terminal/format-values.ts'
import { safeText } from '../terminal/text.ts'

/**
 * The fields in which two evaluations differ, bit for bit. The scenario's name is not compared: its bundle is checked
 * against the agent's hash before the evaluation.
 */
export function differingFields(expected: Evaluation, found: Evaluation): EvaluationDifference[] {
  return compareEvaluations(expected, found).filter(({ field }) => field !== 'scenario')
}

/** The values that were reproduced. */
export function agreementText(evaluation: Evaluation): string {
  const metrics = Object.keys(evaluation.metrics).length
  const parts = [
    `return ${formatValue(evaluation.return_mean)}`,
    ...(metrics > 0 ? [`${formatCount(metrics)} metric${metrics === 1 ? '' : 's'}`] : []),
    `trajectories ${evaluation.trajectory_hash.slice(0, 12)}`,
  ]
  return `${parts.join(', ')}: reproduced bit for bit on ${formatCount(evaluation.episodes)} episodes, seed ${evaluation.seed}`
}

/** The differences and their likely cause: `theirs` and `ours` are the runtime versions, on which the last bits depend. */
export function differenceText(
  differences: readonly EvaluationDifference[],
  theirs: Record<string, string>,
  ours: Record<string, string>,
): string {
  const lines = differences.map(({ field, expected, found }) => {
    const figures = [expected, found].map((value) => (typeof value === 'number' ? String(value) : shown(value)))
    return `${safeText(field, 80)} is ${figures[1]} here, not ${figures[0]}`
  })
  const versions = versionDifferences(theirs, ours).map(
    ({ field, expected, found }) => `${safeText(field, 40)} ${shown(expected)} there, ${shown(found)} here`,
  )
  const why =
    versions.length > 0
      ? `The runtime versions differ, which can change the last bits: ${versions.join('; ')}.`
      : 'The runtime versions are the same.'
  return [...lines.slice(0, 8), ...(lines.length > 8 ? [`and ${lines.length - 8} more`] : []), why].join('\n')
}

/** Differences between the runtime versions, on which an evaluation's last bits depend. */
function versionDifferences(theirs: Record<string, string>, ours: Record<string, string>): EvaluationDifference[] {
  return Object.keys(theirs)
    .filter((name) => theirs[name] !== ours[name])
    .map((name) => ({ field: name, expected: theirs[name], found: ours[name] ?? null }))
}

function shown(value: unknown): string {
  return value === null ? 'nothing' : safeText(String(value), 80)
}
