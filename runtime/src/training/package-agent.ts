import { join } from 'node:path'
import type { AgentManifest, ScenarioPackage } from '@agentgym/contract'
import { runtimeVersions } from '../evaluation/runtime-versions.ts'
import { type BuiltScenario, identityOf } from '../sandbox/build-scenario.ts'
import { sha256 } from '../sandbox/sha256.ts'
import { writeAtomically } from './atomic-write.ts'
import { modelCard } from './model-card.ts'
import type { TrainingOutcome } from './training-job.ts'

export type TrainedAgent = {
  outcome: NonNullable<TrainingOutcome>
  scenario: Pick<BuiltScenario, 'package' | 'hash'>
  /** Name and version of the package; by default they say what it is, as a draft. */
  name?: string
  version?: string
}

/**
 * Writes an agent package into a folder: model.onnx, learning-curve.svg, README.md, agent.json, package.json. agent.json
 * comes last but one, so a folder that a crash left half-written is not taken for an agent.
 */
export async function packageAgent(folder: string, agent: TrainedAgent): Promise<AgentManifest> {
  const { outcome, scenario } = agent
  const { plan, seed } = outcome
  const manifest = agentManifest(agent)
  const unscoped = scenario.package.name.replace(/^@[^/]*\//, '')
  const target = scenario.package.agentgym.success.return_mean ?? null
  const title = `${unscoped} · ${plan.algorithm.toUpperCase()} · seed ${seed}`
  // The charting library takes longer to load than everything else together, and only this moment needs it.
  const { drawLearningCurve } = await import('./learning-curve.ts')
  await writeAtomically(join(folder, 'model.onnx'), outcome.model)
  await writeAtomically(join(folder, 'learning-curve.svg'), drawLearningCurve(outcome.curve, { title, target }))
  await writeAtomically(join(folder, 'README.md'), modelCard(manifest, scenario.package, outcome.seconds))
  await writeAtomically(join(folder, 'agent.json'), json(manifest))
  await writeAtomically(join(folder, 'package.json'), json(packageManifest(agent, unscoped)))
  return manifest
}

function agentManifest({ outcome, scenario }: TrainedAgent): AgentManifest {
  const { description, plan, seed } = outcome
  return {
    format: 1,
    scenario: {
      ...identityOf(scenario),
      observation: description.observation,
      action: description.action,
      success: scenario.package.agentgym.success,
    },
    policy: outcome.policy,
    algorithm: plan.algorithm,
    settings: plan.settings,
    seed,
    steps: outcome.stepsOfWeights,
    evaluation: outcome.evaluation,
    model_hash: sha256(outcome.model),
    runtime: runtimeVersions(),
  }
}

function packageManifest(
  { outcome, scenario, name, version }: TrainedAgent,
  unscoped: string,
): Record<string, unknown> {
  const trainedOn: ScenarioPackage = scenario.package
  return {
    name: name ?? `${unscoped}-${outcome.plan.algorithm}`,
    version: version ?? '0.1.0',
    description: `Agent trained on ${trainedOn.name}@${trainedOn.version}`,
    license: 'UNLICENSED',
    files: ['agent.json', 'model.onnx', 'README.md', 'learning-curve.svg'],
    agentgym: { kind: 'agent' },
  }
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
