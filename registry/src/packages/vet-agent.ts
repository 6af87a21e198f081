import { AgentGymError, type AgentManifest, agentManifestSchema } from '@agentgym/contract'
import { parseManifest } from './parse-manifest.ts'
import type { Tarball } from './read-tarball.ts'

/**
 * Holds an agent's package to its structure: agent.json by its schema, and the model that it names. Whether the model does
 * what agent.json claims is for the verification to say. Throws `agent_invalid`.
 */
export function vetAgent({ agentJson, modelHash }: Pick<Tarball, 'agentJson' | 'modelHash'>): AgentManifest {
  if (agentJson === null || modelHash === null)
    throw agentInvalid(`The tarball holds no ${agentJson === null ? 'agent.json' : 'model.onnx'}.`, 'files')
  const parsed = agentManifestSchema.safeParse(parseAgentJson(agentJson))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const field = issue.path.map(String).join('.')
    throw agentInvalid(`agent.json: the field "${field}": ${issue.message.replace(/\.$/, '')}.`, field)
  }
  if (parsed.data.model_hash !== modelHash)
    throw agentInvalid('model.onnx is not the model that agent.json names: its SHA-256 is another.', 'model_hash')
  return parsed.data
}

function parseAgentJson(bytes: Uint8Array): Record<string, unknown> {
  try {
    return parseManifest(bytes)
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    throw agentInvalid(error.message.replace('package.json', 'agent.json'), 'agent.json')
  }
}

function agentInvalid(message: string, field: string): AgentGymError {
  const hint = 'Publish the whole folder that training wrote, unchanged.'
  return new AgentGymError({ code: 'agent_invalid', message, hint, data: { field } })
}
