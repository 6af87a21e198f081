import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentGymError, type AgentManifest, agentManifestSchema } from '@agentgym/contract'
import { sha256 } from '../sandbox/sha256.ts'

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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
