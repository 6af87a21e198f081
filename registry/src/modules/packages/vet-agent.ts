import { AgentGymError, type AgentManifest, agentManifestSchema } from '@agentgym/contract'
import { checkModelStructure, modelLimits } from '@agentgym/contract/model'
import { parseManifest } from './parse-manifest.ts'
import type { Tarball } from './read-tarball.ts'

/** As many as training evaluates with at most; a worker plays them again. */
const claimedEpisodes = 100_000

/**
 * Holds an agent's package to its structure: agent.json by its schema, the model that it names, and that model by a walk
 * over its bytes, before anything runs it. Whether the model does what agent.json claims is for the verification to say.
 * Throws `agent_invalid` and the codes `model_…`.
 */
export function vetAgent({ agentJson, model }: Pick<Tarball, 'agentJson' | 'model'>): AgentManifest {
  if (agentJson === null || model === null)
    throw agentInvalid(`The tarball holds no ${agentJson === null ? 'agent.json' : 'model.onnx'}.`, 'files')
  const parsed = agentManifestSchema.safeParse(parseAgentJson(agentJson))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const field = issue.path.map(String).join('.')
    throw agentInvalid(`agent.json: the field "${field}": ${issue.message.replace(/\.$/, '')}.`, field)
  }
  const { episodes, seed } = parsed.data.evaluation
  if (episodes < 1 || episodes > claimedEpisodes)
    throw agentInvalid(
      `agent.json claims ${episodes} episodes; 1 to ${claimedEpisodes} are run again.`,
      'evaluation.episodes',
    )
  if (seed > 0xffffffff) throw agentInvalid('agent.json names a seed of more than 32 bits.', 'evaluation.seed')
  if (parsed.data.model_hash !== model.hash)
    throw agentInvalid('model.onnx is not the model that agent.json names: its SHA-256 is another.', 'model_hash')
  if (model.bytes === null)
    throw new AgentGymError({
      code: 'model_too_large',
      message: `model.onnx has more than ${modelLimits.bytes} bytes.`,
      hint: 'Train a smaller network.',
      data: { file: 'model.onnx', limit: modelLimits.bytes },
    })
  checkModelStructure(model.bytes, { policy: parsed.data.policy })
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
