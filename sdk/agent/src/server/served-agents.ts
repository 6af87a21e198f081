import { AgentGymError } from '@agentgym/contract'
import type { AgentAnswer, McpAgent } from '@agentgym/contract/protocols'
import type { Agent, Decision } from '../agent.ts'

export type ServedAgent = {
  /** What clients pass as `model`; with `@version` behind it they may pass that version. */
  name: string
  version: string | null
  agent: Agent
}

/** An agent as it is asked, with what responses call it. */
export type AskedServedAgent = ServedAgent & { model: string; spaces: Agent['manifest']['scenario'] }

function asAsked(served: ServedAgent): AskedServedAgent {
  const { name, version, agent } = served
  return { ...served, model: version === null ? name : `${name}@${version}`, spaces: agent.manifest.scenario }
}

/** The agent that a request names; the only one, if it names none. Throws `package_not_found`. */
export function findAgent(agents: readonly ServedAgent[], model: string | undefined): AskedServedAgent {
  const found =
    model === undefined && agents.length === 1
      ? agents[0]
      : agents.find(({ name, version }) => model === name || model === `${name}@${version}`)
  if (found !== undefined) return asAsked(found)
  throw new AgentGymError({
    code: 'package_not_found',
    message:
      model === undefined
        ? 'The request names no model.'
        : `This server has no agent ${JSON.stringify(model.slice(0, 200))}.`,
    hint: `It serves ${agents.map(({ name }) => name).join(', ')}.`,
    data: { field: 'model' },
  })
}

export function asMcpAgent(served: ServedAgent): McpAgent {
  const { name, model, spaces, agent } = asAsked(served)
  const { observation, action, mask_required } = spaces
  return { name, model, observation, action, mask_required, remembers: agent.remembers }
}

export function asAnswer({ action, label, choices, confidence }: Decision): AgentAnswer {
  return {
    action: action as AgentAnswer['action'],
    label,
    probabilities: choices?.map(({ probability }) => probability) ?? null,
    confidence,
  }
}
