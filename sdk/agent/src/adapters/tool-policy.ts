import { AgentGymError } from '@agentgym/contract'
import { maskOfWords, observationOf, toolNames, wordsOf } from '@agentgym/contract/protocols'
import type { Agent } from '../agent.ts'

/** What a framework hands to the policy: how to read the conversation, and when to leave the choice to the language model. */
export type ToolPolicyOptions<Messages> = {
  agent: Agent
  /** What the agent observes. Default: the text of the last user message or result of a tool, read as JSON. */
  observe?: (messages: Messages) => unknown
  /**
   * `pick` (the default): the policy's tool is called, with the arguments that the policy chose; the language model is not asked.
   * `narrow`: the language model chooses among the `keep` likeliest tools, and writes the arguments. `advise`: the language
   * model chooses among all tools, and the policy's choice is reported only.
   */
  mode?: 'pick' | 'narrow' | 'advise'
  /** With `narrow`: how many tools are kept. Default: 1. */
  keep?: number
  /** The language model chooses where the likeliest tool is less probable than this. Default: 0. */
  threshold?: number
  /** Tools that the policy was not trained with and may ignore. With any other unknown tool the language model chooses. */
  otherTools?: readonly string[]
  /** True once the work is done: the language model then answers, without tools. */
  isDone?: (messages: Messages) => boolean
  /** Called upon every choice. Where the two differ is data to train on. */
  onChoice?: (choice: ToolChoice) => void
}

export type ToolChoice = {
  /** The policy's choice; null where it was not asked, or knows none of the tools. */
  policy: RankedTools | null
  /** Tools that the language model called; null where it was not asked. */
  model: string[] | null
  observation: unknown
}

export type RankedTools = {
  tool: string
  arguments: Record<string, unknown>
  /** Of the tool among those offered; null for an agent without probabilities. */
  probability: number | null
  /** The tools that were offered and that the policy knows, the likeliest first. */
  ranked: string[]
}

/** Agents of frameworks have no place for what a policy remembers of an episode. Throws `usage_invalid`. */
export function refuseMemory(agent: Agent): void {
  if (!agent.remembers) return
  throw new AgentGymError({
    code: 'usage_invalid',
    message: 'This agent remembers earlier observations, which a conversation does not carry.',
    hint: 'Call agent.act with the state of the decision before.',
  })
}

/** The policy's choice among the offered tools; null if it knows none of them, or does not know one that it may not ignore. */
export function rankTools(
  agent: Agent,
  observation: unknown,
  offered: readonly string[],
  otherTools: readonly string[] = [],
): RankedTools | null {
  const { action } = agent.manifest.scenario
  const words = wordsOf(action) ?? []
  const names = toolNames(words)
  const known = offered.filter((name) => names.has(name))
  if (known.length === 0 || offered.some((name) => !names.has(name) && !otherTools.includes(name))) return null
  const legal = new Set(known.map((name) => names.get(name) as string))
  const decision = agent.act(observation, { mask: legal.size === words.length ? null : maskOfWords(action, legal) })
  const probabilityOf = (name: string) => decision.choices?.[words.indexOf(names.get(name) as string)]?.probability ?? 0
  const tool = known.find((name) => names.get(name) === decision.label)
  if (tool === undefined) return null
  return {
    tool,
    arguments: { ...decision.arguments },
    probability: decision.choices === null ? null : probabilityOf(tool),
    ranked: [tool, ...known.filter((name) => name !== tool).sort((a, b) => probabilityOf(b) - probabilityOf(a))],
  }
}

/** The observation in the text of a message. */
export function readObservation(agent: Agent, text: string): unknown {
  return observationOf(text, agent.manifest.scenario.observation, 'messages')
}

/** Whether the policy's choice is sure enough to be taken. */
export function isSure({ probability }: RankedTools, threshold = 0): boolean {
  return probability === null || probability >= threshold
}
