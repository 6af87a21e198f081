import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentGymError, type AgentManifest, agentManifestSchema, type ScenarioPackage } from '@agentgym/contract'
import { writeAtomically } from './atomic-write.ts'
import { type CurvePoint, drawLearningCurve } from './learning-curve.ts'
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
  await writeAtomically(join(folder, 'model.onnx'), agent.model)
  await writeAtomically(join(folder, 'learning-curve.svg'), drawLearningCurve(agent.curve, { title, target }))
  await writeAtomically(join(folder, 'README.md'), modelCard(manifest, agent.scenario, agent.seconds))
  await writeAtomically(join(folder, 'agent.json'), json(manifest))
  await writeAtomically(join(folder, 'package.json'), json(packageManifest(unscoped, manifest)))
  return manifest
}

/** Reads and checks agent.json and the model it names. */
export async function readAgent(folder: string): Promise<AgentManifest> {
  return (await readAgentWithModel(folder)).manifest
}

export async function readAgentWithModel(folder: string): Promise<{ manifest: AgentManifest; model: Uint8Array }> {
  const path = join(folder, 'agent.json')
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new AgentGymError(
      {
        code: 'file_not_found',
        message: `there is no agent in ${folder}: ${path} cannot be read`,
        hint: 'Name the folder that agentgym train printed.',
        data: { path },
      },
      { cause },
    )
  })
  const parsed = agentManifestSchema.safeParse(parseJson(text))
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    const field = issue.path.join('.')
    throw new AgentGymError({
      code: 'manifest_invalid',
      message: `${path} is not a valid agent manifest: ${field === '' ? '' : `${field}: `}${issue.message}`,
      hint: 'Train or download the agent again; agent.json is not meant to be edited.',
      data: { path, field },
    })
  }
  const modelPath = join(folder, 'model.onnx')
  const model = await readFile(modelPath).catch((cause: unknown) => {
    throw new AgentGymError(
      {
        code: 'agent_invalid',
        message: `${modelPath} cannot be read`,
        hint: 'Train or download the agent again.',
        data: { path: modelPath },
      },
      { cause },
    )
  })
  if (sha256(model) !== parsed.data.model_hash) {
    throw new AgentGymError({
      code: 'agent_invalid',
      message: `${modelPath} is not the model that agent.json describes: its SHA-256 differs`,
      hint: 'Train or download the agent again.',
      data: { path: modelPath },
    })
  }
  return { manifest: parsed.data, model: new Uint8Array(model) }
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
