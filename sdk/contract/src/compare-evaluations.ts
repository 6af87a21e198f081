import type { Evaluation } from './agent-manifest.ts'

export type EvaluationDifference = { field: string; expected: unknown; found: unknown }

/**
 * Where two evaluations differ, bit for bit: the same episodes with the same agent give the same figures to the last
 * digit, and the same hash over every action and reward. Empty where they are one.
 */
export function compareEvaluations(expected: Evaluation, found: Evaluation): EvaluationDifference[] {
  const differences: EvaluationDifference[] = []
  const compare = (field: string, a: unknown, b: unknown) => {
    if (!Object.is(a, b)) differences.push({ field, expected: a ?? null, found: b ?? null })
  }
  for (const field of ['scenario', 'episodes', 'seed', 'return_mean', 'return_std', 'length_mean'] as const) {
    compare(field, expected[field], found[field])
  }
  for (const name of new Set([...Object.keys(expected.metrics), ...Object.keys(found.metrics)])) {
    compare(`metrics.${name}`, own(expected.metrics, name), own(found.metrics, name))
  }
  compare('trajectory_hash', expected.trajectory_hash, found.trajectory_hash)
  return differences
}

function own(record: Record<string, number>, name: string): number | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}
