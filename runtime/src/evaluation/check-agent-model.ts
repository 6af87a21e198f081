import { checkPolicySpaces, sha256 } from '@agentgym/agent/engine'
import { AgentGymError, type AgentManifest } from '@agentgym/contract'
import { checkModelStructure, type ModelLimits } from '@agentgym/contract/model'
import { faultMessage } from '../sandbox/checks/check-messages.ts'
import { type GoldenBatchOptions, runGoldenBatch } from './golden-batch.ts'

export type AgentModelCheck = { id: 'hash' | 'policy' | 'structure' | 'golden_batch'; ok: boolean; message: string }
export type AgentModelReport = {
  ok: boolean
  checks: AgentModelCheck[]
  /** SHA-256 (hex) of the golden batch's outputs; null where a check failed. */
  output_hash: string | null
}

export type CheckAgentModelOptions = GoldenBatchOptions & {
  manifest: AgentManifest
  /** What the model may hold; by default what the registry takes. */
  modelLimits?: Partial<ModelLimits>
}

/**
 * Vets the model of a stranger's agent: it is the one that agent.json names, its policy is one for the scenario's spaces,
 * its file passes the structural walk, and it runs the golden batch in a process that may be killed. What comes after a
 * failed check is reported as not run. A fault of the model is in the report; throws `training_cancelled`, and
 * `training_failed` where the process could not be started or made no sense.
 */
export async function checkAgentModel(options: CheckAgentModelOptions): Promise<AgentModelReport> {
  const { manifest, model } = options
  let outputHash: string | null = null
  let checkedModel = model
  const steps: [AgentModelCheck['id'], () => string | Promise<string>][] = [
    [
      'hash',
      () => {
        const hash = sha256(model)
        if (hash !== manifest.model_hash) throw otherModel(hash)
        return `model.onnx has the SHA-256 that agent.json names, ${hash.slice(0, 12)}`
      },
    ],
    [
      'policy',
      () => {
        checkPolicySpaces(manifest.policy, manifest.scenario)
        return 'the policy reads and gives what the scenario’s spaces hold'
      },
    ],
    [
      'structure',
      () => {
        checkedModel = checkModelStructure(model, { policy: manifest.policy }, options.modelLimits)
        return `${model.length} bytes: operators of the list, bounded shapes, finite weights, nothing outside the file`
      },
    ],
    [
      'golden_batch',
      async () => {
        outputHash = await runGoldenBatch({ ...options, model: checkedModel })
        return `finite outputs, the same twice, sha256 ${outputHash.slice(0, 12)}`
      },
    ],
  ]
  const checks: AgentModelCheck[] = []
  for (const [id, step] of steps) {
    const failed = checks.find(({ ok }) => !ok)
    checks.push(
      failed === undefined ? await runCheck(id, step) : { id, ok: false, message: `not run: ${failed.id} failed` },
    )
  }
  return { ok: checks.every(({ ok }) => ok), checks, output_hash: outputHash }
}

async function runCheck(id: AgentModelCheck['id'], step: () => string | Promise<string>): Promise<AgentModelCheck> {
  try {
    return { id, ok: true, message: await step() }
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    if (error.code === 'training_cancelled' || error.code === 'training_failed') throw error
    return { id, ok: false, message: `${error.code}: ${faultMessage(error.toReport())}` }
  }
}

function otherModel(hash: string): AgentGymError {
  return new AgentGymError({
    code: 'agent_invalid',
    message: `model.onnx is not the model that agent.json names: its SHA-256 is ${hash}.`,
    hint: 'Take the model and agent.json from one training run, unchanged.',
    data: { file: 'model.onnx' },
  })
}
