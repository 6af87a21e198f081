import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '@agentgym/agent/engine'
import { type AgentManifest, type PolicySpec, type SpaceDescription, trainedParts } from '@agentgym/contract'
import { exportModel } from '../src/policy/policy-graph.ts'
import { buildPolicySpec, type NetworkSettings } from '../src/policy/policy-spec.ts'
import { randomWeights, testRandom } from '../src/policy/testing/policy-cases.ts'

type Spaces = { observation: SpaceDescription; action: SpaceDescription }

/** Writes a folder as training does, with random weights. Returns what is in it. `network` changes the usual one. */
export function writeRandomAgent(
  folder: string,
  name: string,
  { observation, action }: Spaces,
  memory = false,
  maskRequired = false,
  network: Partial<NetworkSettings> = {},
) {
  const spaces = { observation, action }
  const policy = buildPolicySpec(spaces, {
    hidden: [16],
    activation: 'tanh',
    embedding: 8,
    normalizeObservation: true,
    boxActions: 'squashed',
    convolution: { kind: 'small', filters: 4 },
    memory: memory ? { kind: 'gru', units: 8 } : undefined,
    ...network,
  })
  const model = exportModel(policy, randomWeights(policy, testRandom(1)))
  const hash = '0'.repeat(64)
  const required = maskRequired ? { mask_required: true as const } : {}
  const scenario = { name, version: '1.0.0', hash, ...spaces, ...required, success: {} }
  const manifest: AgentManifest = {
    ...{ format: 1, scenario, policy, algorithm: 'ppo', settings: {}, seed: 1, steps: 0, model_hash: sha256(model) },
    ...{ runtime: {}, evaluation: noEvaluation(name, hash), ...trainableOf(policy) },
  }
  mkdirSync(folder)
  writeFileSync(join(folder, 'agent.json'), JSON.stringify(manifest))
  writeFileSync(join(folder, 'model.onnx'), model)
  return { folder, policy, model }
}

function trainableOf({ action }: PolicySpec): Pick<AgentManifest, 'trainable'> {
  if (action.every(({ when }) => when === undefined)) return {}
  return { trainable: trainedParts({ action }) }
}

function noEvaluation(name: string, hash: string): AgentManifest['evaluation'] {
  const means = { return_mean: 0, return_std: 0, length_mean: 0, metrics: {} }
  const success = { ok: null, criteria: [] }
  return { scenario: `${name}@1.0.0`, episodes: 1, seed: 0, ...means, success, trajectory_hash: hash }
}
