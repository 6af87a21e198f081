import { join } from 'node:path'
import type { AgentManifest, ScenarioPackage } from '@agentgym/contract'
import { sha256 } from '../sandbox/sha256.ts'
import { writeAtomically } from './atomic-write.ts'
import type { CurvePoint } from './curve.ts'
import { modelCard } from './model-card.ts'

export type TrainedAgent = {
  manifest: Omit<AgentManifest, 'model_hash'>
  model: Uint8Array
  scenario: ScenarioPackage
  curve: CurvePoint[]
  seconds: number
}

/**
 * Writes an agent package: model.onnx, learning-curve.svg, README.md, agent.json, package.json. agent.json comes last but
 * one, so a folder that a crash left half-written is not taken for an agent.
 */
export async function writeAgent(folder: string, agent: TrainedAgent): Promise<AgentManifest> {
  const manifest: AgentManifest = { ...agent.manifest, model_hash: sha256(agent.model) }
  const unscoped = agent.scenario.name.replace(/^@[^/]*\//, '')
  const target = agent.scenario.agentgym.success.return_mean ?? null
  const title = `${unscoped} · ${manifest.algorithm.toUpperCase()} · seed ${manifest.seed}`
  // The charting library takes longer to load than everything else together, and only this moment needs it.
  const { drawLearningCurve } = await import('./learning-curve.ts')
  await writeAtomically(join(folder, 'model.onnx'), agent.model)
  await writeAtomically(join(folder, 'learning-curve.svg'), drawLearningCurve(agent.curve, { title, target }))
  await writeAtomically(join(folder, 'README.md'), modelCard(manifest, agent.scenario, agent.seconds))
  await writeAtomically(join(folder, 'agent.json'), json(manifest))
  await writeAtomically(join(folder, 'package.json'), json(packageManifest(unscoped, manifest)))
  return manifest
}

function packageManifest(unscoped: string, manifest: AgentManifest): Record<string, unknown> {
  return {
    name: `${unscoped}-${manifest.algorithm}`,
    version: '0.1.0',
    description: `Agent trained on ${manifest.scenario.name}@${manifest.scenario.version}`,
    license: 'UNLICENSED',
    files: ['agent.json', 'model.onnx', 'README.md', 'learning-curve.svg'],
    agentgym: { kind: 'agent' },
  }
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
