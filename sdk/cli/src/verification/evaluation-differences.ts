import { compareEvaluations, type Evaluation, type EvaluationDifference } from '@agentgym/contract'
import { formatCount, formatValue } from '../terminal/format-values.ts'
import { safeText } from '../terminal/text.ts'

/**
 * Where the figures of two evaluations differ, bit for bit. The scenario's name is not compared: its bundle is held to the
 * agent's by hash before anything is played.
 */
export function figuresThatDiffer(expected: Evaluation, found: Evaluation): EvaluationDifference[] {
  return compareEvaluations(expected, found).filter(({ field }) => field !== 'scenario')
}

/** The figures that were found again, in words. */
export function agreementText(evaluation: Evaluation): string {
  const metrics = Object.keys(evaluation.metrics).length
  const parts = [
    `return ${formatValue(evaluation.return_mean)}`,
    ...(metrics > 0 ? [`${formatCount(metrics)} metric${metrics === 1 ? '' : 's'}`] : []),
    `trajectories ${evaluation.trajectory_hash.slice(0, 12)}`,
  ]
  return `${parts.join(', ')}: the same bit for bit on ${formatCount(evaluation.episodes)} episodes, seed ${evaluation.seed}`
}

/** What differs, in words, and what may be why: `theirs` and `ours` are the versions that the last bits depend on. */
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
      ? `The last bits may depend on versions that differ: ${versions.join('; ')}.`
      : 'The versions that figures depend on are the same.'
  return [...lines.slice(0, 8), ...(lines.length > 8 ? [`and ${lines.length - 8} more`] : []), why].join('\n')
}

/** Where the versions differ that an evaluation's last bits depend on. */
function versionDifferences(theirs: Record<string, string>, ours: Record<string, string>): EvaluationDifference[] {
  return Object.keys(theirs)
    .filter((name) => theirs[name] !== ours[name])
    .map((name) => ({ field: name, expected: theirs[name], found: ours[name] ?? null }))
}

function shown(value: unknown): string {
  return value === null ? 'nothing' : safeText(String(value), 80)
}
