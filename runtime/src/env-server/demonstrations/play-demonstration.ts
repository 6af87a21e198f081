import type { Agent } from '@agentgym/agent'
import { actionDescriber } from '@agentgym/agent/engine'
import type { SpaceDescription } from '@agentgym/contract'
import { EpisodeSession, type Turn } from '../episode-session.ts'
import { callsAsText } from '../rollouts/calls-as-text.ts'
import type { Message } from '../rollouts/model-replies.ts'
import type { ServedEnvironment } from '../served-environment.ts'
import type { Sessions } from '../sessions.ts'
import type { SplitName } from '../task-splits.ts'
import { turnText } from '../turn-text.ts'

/** Who shows how the scenario is played. */
export type Demonstrator = { kind: 'oracle' } | { kind: 'agent'; agent: Agent }

export type DemonstrationPlan = {
  environment: ServedEnvironment
  sessions: Sessions
  player: Demonstrator
  split: SplitName
  /** Whether calls are tool calls; else text, such as `Action: refund(order=A-1)`. */
  tools: boolean
}

/** An episode as a conversation that a language model can learn from: what it would have read and written. */
export type Demonstration = {
  index: number
  messages: Message[]
  /** Sum of the rewards. */
  reward: number
  steps: number
  end: 'terminated' | 'truncated'
  metrics: Record<string, number>
}

/** What is chosen next: the action, as JSON, and the word for it. */
type Choose = (session: EpisodeSession, turn: Turn) => Promise<{ action: unknown; label: string | null }>

/** Plays a task as a language model would see it. Rejects with the scenario's fault, or the agent's. */
export async function playDemonstration(index: number, plan: DemonstrationPlan): Promise<Demonstration> {
  const { environment, sessions, split, tools } = plan
  const { form } = environment
  const choose = plan.player.kind === 'oracle' ? byOracle(environment) : byAgent(environment, plan.player.agent)
  const session = await EpisodeSession.open(sessions, environment)
  try {
    let turn = await session.reset({ split, index })
    const how = form.form === 'tools' && !tools ? `\n${callsAsText}` : ''
    const messages: Message[] = [
      { role: 'system', content: `${form.task}${how}` },
      { role: 'user', content: turnText(turn) },
    ]
    while (!turn.done) {
      const chosen = await choose(session, turn)
      turn = await session.step({ action: chosen.action })
      messages.push(...exchange(plan, chosen, turn, session.state.steps))
    }
    const { return: reward, steps } = session.state
    return { index, messages, reward, steps, end: turn.truncated ? 'truncated' : 'terminated', metrics: turn.metrics }
  } finally {
    await session.end()
  }
}

/** What the model writes, and what it reads upon it; of the last step nothing is read. */
function exchange(
  { environment: { form }, tools }: DemonstrationPlan,
  { action, label }: { action: unknown; label: string | null },
  turn: Turn,
  step: number,
): Message[] {
  const call = form.callOf(action)
  if (call === null || !tools) {
    const said = call === null ? (label ?? JSON.stringify(action)) : callText(call)
    const written: Message = { role: 'assistant', content: call === null ? said : `Action: ${said}` }
    return turn.done ? [written] : [written, { role: 'user', content: turnText(turn) }]
  }
  const id = `call_${step}`
  const made = { id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.arguments) } }
  return [
    { role: 'assistant', content: '', tool_calls: [made] },
    { role: 'tool', tool_call_id: id, name: call.name, content: turnText(turn) },
  ]
}

function callText({ name, arguments: given }: { name: string; arguments: Record<string, unknown> }): string {
  const parts = Object.entries(given).map(([key, value]) => `${key}=${value}`)
  return parts.length === 0 ? name : `${name}(${parts.join(', ')})`
}

function byOracle({ description }: ServedEnvironment): Choose {
  const describe = actionDescriber(description.action)
  return async (session, { observation }) =>
    describe(Float32Array.from((await session.scripted('oracle')).action), observation)
}

/** The agent's likeliest actions, as in its evaluation. */
function byAgent({ description }: ServedEnvironment, agent: Agent): Choose {
  let state: string | null = null
  return async (session, { observation }) => {
    const mask = maskOf(description.action, session.legal)
    const decision = agent.act(observation, { mask, state })
    state = decision.state
    return { action: decision.action, label: decision.label }
  }
}

/** Legal choices in the form of the action, as `actionMask` gives them. */
export function maskOf(space: SpaceDescription, legal: readonly boolean[][] | null): unknown {
  if (legal === null) return null
  const components = [...legal]
  const take = (inner: SpaceDescription): unknown => {
    switch (inner.type) {
      case 'discrete':
        return components.shift()
      case 'multiDiscrete':
        return inner.nvec.map(() => components.shift())
      case 'dict':
        return Object.fromEntries(inner.entries.map(({ name, space: part }) => [name, take(part)]))
      default:
        return undefined
    }
  }
  return take(space)
}
