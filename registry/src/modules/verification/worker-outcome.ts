import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import {
  type AgentManifest,
  compareEvaluations,
  type Evaluation,
  type EvaluationResultRequest,
} from '@agentgym/contract'
import type { Outcome } from './decide-evaluation.ts'
import { canonicalJson } from './signing-keys.ts'

/** A worker's report of a verification. */
export type WorkerReport = Pick<EvaluationResultRequest, 'checks' | 'output_hash' | 'results'>

/** One worker's result for an agent whose scenario is in this registry. */
export function outcomeOf(
  manifest: AgentManifest,
  { checks, output_hash: outputHash, results }: WorkerReport,
): Outcome {
  const failed = checks.find(({ ok }) => !ok)
  if (failed !== undefined) return { kind: 'refused', message: failed.message }
  if (outputHash === null) return { kind: 'refused', message: 'The golden batch produced no outputs.' }
  const unstable = results.find(({ repeat }) => repeat?.same === false)
  if (unstable !== undefined) {
    const message = unstable.repeat?.message ?? 'Two processes got different results.'
    return { kind: 'nondeterministic', message: `${taskNames[unstable.id]} is not deterministic: ${message}` }
  }
  for (const { id, error } of results)
    if (error !== null) return { kind: 'broken', message: `${taskNames[id]} failed: ${error.message}` }
  const claim = evaluationOf(results, 'claim')
  const heldOut = evaluationOf(results, 'held_out')
  if (claim === null || heldOut === null) return { kind: 'broken', message: 'The worker reported no results.' }
  const returns = results.find(({ id }) => id === 'held_out')?.episode_returns ?? null
  // Calibration may differ in a thousandth between processors, and older workers report neither: they are signed if the workers
  // agree, and decide nothing.
  const { calibration: _, baselines: __, ...played } = heldOut
  const found = canonicalJson({ claim, held_out: played, output_hash: outputHash, returns })
  const result = createHash('sha256').update(found).digest('hex')
  const message = differenceOf(manifest.evaluation, claim)
  return message === null ? { kind: 'reproduced', result } : { kind: 'differs', result, message }
}

const taskNames = {
  claim: 'The claimed evaluation',
  held_out: 'The held-out evaluation',
  requested: 'The run',
} as const

/**
 * Checks that the success criteria in agent.json are the scenario's own, because success is judged by them. Needs no
 * run. Null if they match.
 */
export function criteriaMismatch(
  { scenario: claimed }: Pick<AgentManifest, 'scenario'>,
  scenario: { success: Record<string, number> },
): string | null {
  if (isDeepStrictEqual(claimed.success, scenario.success)) return null
  return `The success criteria in agent.json differ from those of ${claimed.name}@${claimed.version}.`
}

function differenceOf(expected: Evaluation, claim: Evaluation): string | null {
  const differences = compareEvaluations(expected, claim)
  if (!isDeepStrictEqual(expected.success, claim.success))
    differences.push({ field: 'success', expected: expected.success.ok, found: claim.success.ok })
  if (differences.length === 0) return null
  const words = differences.slice(0, 4).map(({ field, expected, found }) => {
    return `${field} is ${shown(found)}, not ${shown(expected)}`
  })
  return `The re-run differs from the claims in agent.json: ${words.join('; ')}${differences.length > 4 ? '; and more' : ''}.`
}

function shown(value: unknown): string {
  return value === null ? 'nothing' : String(value).slice(0, 80)
}

export function evaluationOf(results: WorkerReport['results'], id: 'claim' | 'held_out'): Evaluation | null {
  return results.find((result) => result.id === id)?.evaluation ?? null
}
