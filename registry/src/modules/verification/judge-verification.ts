import { isDeepStrictEqual } from 'node:util'
import {
  type AgentManifest,
  compareEvaluations,
  type Evaluation,
  type EvaluationResultRequest,
} from '@agentgym/contract'

/** What a worker's result means for an agent's version. */
export type Verdict =
  /** The model itself does not hold: the version is rejected. */
  | { state: 'failed'; published: boolean; message: string }
  | { state: 'mismatch' | 'unavailable'; published: true; message: string }
  | { state: 'verified'; published: true; claim: Evaluation; heldOut: Evaluation; outputHash: string }

type Result = Pick<EvaluationResultRequest, 'checks' | 'output_hash' | 'results'>

/**
 * Judges what came out: a model that fails its checks is rejected; an agent whose scenario this registry has not is
 * published as it is; one whose claim came out otherwise, in any bit, is published and marked; and one whose claim came
 * out the same is verified. `scenario` says what the scenario's own package holds.
 */
export function judgeVerification(
  manifest: AgentManifest,
  scenario: { success: Record<string, number> } | null,
  { checks, output_hash: outputHash, results }: Result,
): Verdict {
  const failed = checks.find(({ ok }) => !ok)
  if (failed !== undefined) return { state: 'failed', published: false, message: failed.message }
  if (outputHash === null) return { state: 'failed', published: false, message: 'The golden batch gave no outputs.' }
  if (scenario === null || results.length === 0) {
    const { name, version } = manifest.scenario
    const message = `This registry has not ${name}@${version} as the agent was trained on it, so nobody ran the agent again.`
    return { state: 'unavailable', published: true, message }
  }
  for (const { id, error } of results) {
    if (error !== null)
      return { state: 'failed', published: true, message: `${taskNames[id]} failed: ${error.message}` }
  }
  const claim = evaluationOf(results, 'claim')
  const heldOut = evaluationOf(results, 'held_out')
  if (claim === null || heldOut === null)
    return { state: 'failed', published: true, message: 'The worker gave no figures.' }
  const message = mismatchOf(manifest, scenario, claim)
  if (message !== null) return { state: 'mismatch', published: true, message }
  return { state: 'verified', published: true, claim, heldOut, outputHash }
}

const taskNames = { claim: 'The run of the claim', held_out: 'The held-out run', requested: 'The run' } as const

/** Success is judged by criteria that stand in agent.json: they must be the scenario's own. */
function mismatchOf(
  manifest: AgentManifest,
  scenario: { success: Record<string, number> },
  claim: Evaluation,
): string | null {
  if (!isDeepStrictEqual(manifest.scenario.success, scenario.success))
    return `agent.json states success criteria that are not those of ${manifest.scenario.name}@${manifest.scenario.version}.`
  const differences = compareEvaluations(manifest.evaluation, claim)
  if (!isDeepStrictEqual(manifest.evaluation.success, claim.success))
    differences.push({ field: 'success', expected: manifest.evaluation.success.ok, found: claim.success.ok })
  if (differences.length === 0) return null
  const words = differences.slice(0, 4).map(({ field, expected, found }) => {
    return `${field} is ${shown(found)}, not ${shown(expected)}`
  })
  return `Run again, it did otherwise than agent.json claims: ${words.join('; ')}${differences.length > 4 ? '; and more' : ''}.`
}

function shown(value: unknown): string {
  return value === null ? 'nothing' : String(value).slice(0, 80)
}

function evaluationOf(results: Result['results'], id: 'claim' | 'held_out'): Evaluation | null {
  return results.find((result) => result.id === id)?.evaluation ?? null
}
