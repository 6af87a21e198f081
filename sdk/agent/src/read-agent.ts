import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentGymError, type AgentManifest, agentManifestSchema, parseJson } from '@agentgym/contract'
import { checkModelStructure } from '@agentgym/contract/model'
import { localModelLimits } from './policy/local-model-limits.ts'
import { sha256 } from './sha256.ts'

/** A manifest is a few kilobytes. */
const maxManifestBytes = 4 * 2 ** 20

/** Reads and checks agent.json and the hash of the model that it names. Does not look into the model. */
export async function readAgent(folder: string): Promise<AgentManifest> {
  return (await readPackage(folder)).manifest
}

export type CheckedAgent = {
  manifest: AgentManifest
  /** The file's bytes, which have the hash in agent.json. */
  model: Uint8Array
  /** The model as the walk has written it: what ONNX Runtime may load. */
  checkedModel: Uint8Array
}

/** The same, with a model that has passed the structural walk: it may come from anyone. */
export async function readAgentWithModel(folder: string): Promise<CheckedAgent> {
  const agent = await readPackage(folder)
  const checkedModel = checkModelStructure(agent.model, { policy: agent.manifest.policy }, localModelLimits)
  return { ...agent, checkedModel }
}

async function readPackage(folder: string): Promise<{ manifest: AgentManifest; model: Uint8Array }> {
  const path = join(folder, 'agent.json')
  const text = await readBounded(path, maxManifestBytes, 'manifest_invalid').catch((cause: unknown) => {
    if (cause instanceof AgentGymError) throw cause
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
  const parsed = agentManifestSchema.safeParse(parseJson(text.toString()))
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
  const model = await readBounded(modelPath, localModelLimits.bytes, 'model_too_large').catch((cause: unknown) => {
    if (cause instanceof AgentGymError) throw cause
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

/** A file of a stranger's package: not read where it is larger than anything that could be used. */
async function readBounded(
  path: string,
  limit: number,
  code: 'manifest_invalid' | 'model_too_large',
): Promise<Buffer<ArrayBuffer>> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    if (size > limit)
      throw new AgentGymError({
        code,
        message: `${path} has ${size} bytes; at most ${limit} are taken`,
        hint: 'Train or download the agent again.',
        data: { path, limit },
      })
    return await file.readFile()
  } finally {
    await file.close()
  }
}
