import { AgentGymError } from '@agentgym/contract'
import { maskOfWords, observationOf, toolNames, wordsOf } from '@agentgym/contract/protocols'
import type { Agent } from '../agent.ts'

/** Who decides when. The same for every framework and for `agentgym agent serve --llm-base-url`. */
export type ToolPolicyRules = {
  /**
   * `pick` (the default): the policy's tool is called, with the policy's arguments; the language model writes only arguments that
   * a tool requires and the policy does not choose. `narrow`: the language model chooses among the `keep` likeliest tools, and
   * writes the arguments. `advise`: the language model chooses among all tools, and the policy's choice is reported only.
   */
  mode?: 'pick' | 'narrow' | 'advise'
  /** With `narrow`: how many tools are kept. Default: 1. */
  keep?: number
  /**
   * The language model chooses where the policy's confidence is less than this: the chance that its choice succeeds, for an agent
   * whose confidence is calibrated, else the probability of the likeliest tool. Default: 0.
   */
  threshold?: number
  /** Tools that the policy was not trained with and may ignore. With any other unknown tool the language model chooses. */
  otherTools?: readonly string[]
  /** Tools that end the work: after one of them, the language model answers, without tools. */
  doneAfter?: readonly string[]
  /**
   * After so many calls since the user's last message, the language model answers, without tools. A policy always picks a tool, so
   * without a rule to stop an agent would call tools for ever. Default: 50.
   */
  maxCalls?: number
}

/** What a framework hands to the policy: how to read the conversation, and when to leave the choice to the language model. */
export type ToolPolicyOptions<Messages> = ToolPolicyRules & {
  agent: Agent
  /** What the agent observes. Default: the text of the last user message or result of a tool, read as JSON. */
  observe?: (messages: Messages) => unknown
  /** True once the work is done: the language model then answers, without tools. */
  isDone?: (messages: Messages) => boolean
  /** Called upon every choice. Where the two differ is data to train on. */
  onChoice?: (choice: ToolChoice) => void
}

/** Why the policy's tool was called, or the language model was asked. */
export type ChoiceReason = 'sure' | 'arguments' | 'narrow' | 'advise' | 'unsure' | 'unknown_tools'

export type ToolChoice = {
  reason: ChoiceReason
  /** The policy's choice; null where it does not know all tools. */
  policy: RankedTools | null
  /** Tools that the language model called; null where it was not asked, or what it called cannot be seen. */
  model: string[] | null
  observation: unknown
}

export type RankedTools = {
  tool: string
  arguments: Record<string, unknown>
  /** Of the tool among those offered; null for an agent without probabilities. */
  probability: number | null
  /** The chance that the choice succeeds; null for an agent that is not calibrated. */
  confidence: number | null
  /** The tools that were offered and that the policy knows, the likeliest first. */
  ranked: string[]
}

/** One turn of a conversation. */
export type Turn = {
  observation: unknown
  /** Names of the tools that may be called. */
  offered: readonly string[]
  /** Names of the parameters that a tool requires. */
  required: (tool: string) => readonly string[]
}

/**
 * What becomes of a turn. `call`: the policy's tool is called, and the language model is not asked. `ask`: the language model
 * chooses among `tools`, or all tools where that is null; where it is one tool, it must call that.
 */
export type Plan =
  | { step: 'call'; reason: 'sure'; policy: RankedTools }
  | { step: 'ask'; reason: 'arguments'; policy: RankedTools; tools: readonly string[] }
  | { step: 'ask'; reason: 'narrow'; policy: RankedTools; tools: readonly string[] }
  | { step: 'ask'; reason: 'advise' | 'unsure' | 'unknown_tools'; policy: RankedTools | null; tools: null }

/** Who chooses the tool in this turn. */
export function planTurn(agent: Agent, rules: ToolPolicyRules, { observation, offered, required }: Turn): Plan {
  const { mode = 'pick', keep = 1, threshold = 0, otherTools } = rules
  const policy = rankTools(agent, observation, offered, otherTools)
  if (policy === null) return { step: 'ask', reason: 'unknown_tools', policy, tools: null }
  if (mode === 'advise') return { step: 'ask', reason: 'advise', policy, tools: null }
  if ((policy.confidence ?? policy.probability ?? 1) < threshold)
    return { step: 'ask', reason: 'unsure', policy, tools: null }
  if (mode === 'narrow') return { step: 'ask', reason: 'narrow', policy, tools: policy.ranked.slice(0, keep) }
  const isComplete = required(policy.tool).every((name) => Object.hasOwn(policy.arguments, name))
  return isComplete
    ? { step: 'call', reason: 'sure', policy }
    : { step: 'ask', reason: 'arguments', policy, tools: [policy.tool] }
}

/** Whether the language model has to answer now. `calls`: the tools that were called since the user's last message, in order. */
export function isFinished({ doneAfter = [], maxCalls = 50 }: ToolPolicyRules, calls: readonly string[]): boolean {
  return calls.length >= maxCalls || doneAfter.includes(calls.at(-1) ?? '')
}

/** The parameters that a JSON schema requires; none for what is no schema of an object. */
export function requiredOf(schema: unknown): string[] {
  const { required } = Object(schema) as { required?: unknown }
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
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
function rankTools(
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
    confidence: decision.confidence,
    ranked: [tool, ...known.filter((name) => name !== tool).sort((a, b) => probabilityOf(b) - probabilityOf(a))],
  }
}

/** The observation in the text of a message. */
export function readObservation(agent: Agent, text: string): unknown {
  return observationOf(text, agent.manifest.scenario.observation, 'messages')
}
