import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '@agentgym/agent/engine'
import type { AgentManifest } from '@agentgym/contract'
import type { BuiltScenario } from '@agentgym/runtime'
import { goodAgent } from '../../testdata/tarballs/good-agent.ts'
import { temporaryFolder } from './scenario-fixture.ts'

/** An agent's folder as somebody else's tools would have written it for a scenario. */
export function agentFor(scenario: BuiltScenario, model: Uint8Array, change: Partial<AgentManifest> = {}): string {
  const folder = temporaryFolder()
  const { name, version } = scenario.package
  const manifest: AgentManifest = {
    ...goodAgent,
    scenario: { ...goodAgent.scenario, name, version, hash: scenario.hash, success: {} },
    model_hash: sha256(model),
    ...change,
  }
  writeFileSync(join(folder, 'model.onnx'), model)
  writeFileSync(join(folder, 'agent.json'), JSON.stringify(manifest))
  return folder
}
