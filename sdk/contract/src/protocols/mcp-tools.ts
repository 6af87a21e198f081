import type { AgentGymError } from '../agent-gym-error.ts'
import { describeSpace } from '../space-description.ts'
import { type JsonSchema, maskSchema, observationSchema } from '../space-schema.ts'
import {
  type AgentAnswer,
  type AskedAgent,
  jsonOf,
  maskOfWords,
  observationOf,
  requestInvalid,
  wordsOf,
} from './asked-agent.ts'

/** An agent behind MCP: how it is called, and what its tools need to know of it. */
export type McpAgent = AskedAgent & {
  /** `@scope/name`, or what the server calls it. */
  name: string
  /** With its version, as answers name it. */
  model: string
  /** Agents with memory act within episodes. */
  remembers: boolean
  mask_required?: true
}

export type McpVerb = 'decide' | 'start_episode' | 'act' | 'end_episode'

export type McpTool = {
  verb: McpVerb
  /** At most 64 letters, digits, `_` and `-`. */
  name: string
  title: string
  description: string
  inputSchema: JsonSchema
  outputSchema: JsonSchema
  annotations: { readOnlyHint: boolean; destructiveHint: false; idempotentHint: boolean; openWorldHint: false }
}

/** Of the name's part after the verb: the longest verb, `start_episode`, and clients' own prefixes leave room for it. */
const longestName = 40
const plainName = /^@([a-z0-9-]+)\/([a-z0-9-]+)$/

/**
 * The name of a tool: `decide-acme_support` for @acme/support. It depends on the agent's name alone, so it stays the same
 * whatever else a server serves. A name with other characters, or a long one, ends with two underscores, which no plain one has,
 * and a hash.
 */
export function mcpToolName(verb: McpVerb, agent: string): string {
  const [, scope, unscoped] = plainName.exec(agent) ?? []
  const plain = `${scope}_${unscoped}`
  if (scope !== undefined && plain.length <= longestName) return `${verb}-${plain}`
  const hash = hashOf(agent)
  const words = agent.replace(/[^A-Za-z0-9-]+/g, '_').replace(/^_|_$/g, '')
  return `${verb}-${words.slice(0, longestName - hash.length - 2)}__${hash}`
}

/** FNV-1a of 64 bits, in base 36. */
function hashOf(text: string): string {
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  }
  return hash.toString(36)
}

/** The tools of an agent: `decide`, or those of an episode for an agent with memory. */
export function mcpTools(agent: McpAgent): McpTool[] {
  return agent.remembers ? episodeTools(agent) : [decideTool(agent)]
}

function decideTool(agent: McpAgent): McpTool {
  return toolOf('decide', agent, {
    title: `Decide with ${agent.name}`,
    description: `Ask the trained agent ${agent.model} what to do next: ${chooses(agent)}. It answers with the choice that it has learned to be best, and probabilities.`,
    input: askedSchema(agent),
    output: decidedSchema(agent),
    idempotent: true,
    reads: true,
  })
}

function episodeTools(agent: McpAgent): McpTool[] {
  const handle = { episode_id: { type: 'string', description: `From ${mcpToolName('start_episode', agent.name)}.` } }
  const step = { type: 'integer', minimum: 0 }
  const asked = askedSchema(agent)
  const decided = decidedSchema(agent)
  const count =
    'Counts the decisions of the episode, from 0. Sent again with the same observation, it gets the same decision.'
  return [
    toolOf('start_episode', agent, {
      title: `Begin an episode of ${agent.name}`,
      description: `The trained agent ${agent.model} remembers what it has observed. Begin an episode first, and pass its id to ${mcpToolName('act', agent.name)} with each observation.`,
      input: { properties: {}, required: [] },
      output: { properties: { ...handle, next_step: step }, required: ['episode_id', 'next_step'] },
      idempotent: false,
    }),
    toolOf('act', agent, {
      title: `Act with ${agent.name}`,
      description: `Ask the trained agent ${agent.model} what to do next in an episode: ${chooses(agent)}.`,
      input: {
        properties: { ...handle, step: { ...step, description: count }, ...asked.properties },
        required: ['episode_id', 'step', ...asked.required],
      },
      output: {
        properties: { ...decided.properties, step, next_step: step },
        required: [...decided.required, 'step', 'next_step'],
      },
      idempotent: true,
    }),
    toolOf('end_episode', agent, {
      title: `End an episode of ${agent.name}`,
      description: 'Forget an episode. Those that are not ended are forgotten a day after their last decision.',
      input: { properties: handle, required: ['episode_id'] },
      output: { properties: { ended: { type: 'boolean' } }, required: ['ended'] },
      idempotent: true,
    }),
  ]
}

type Properties = { properties: { [name: string]: JsonSchema }; required: string[] }
type ToolParts = {
  title: string
  description: string
  input: Properties
  output: Properties
  idempotent: boolean
  reads?: boolean
}

function toolOf(verb: McpVerb, { name }: McpAgent, parts: ToolParts): McpTool {
  const { title, description, input, output, idempotent, reads = false } = parts
  const nothing = Object.keys(input.properties).length === 0
  return {
    verb,
    name: mcpToolName(verb, name),
    title,
    description,
    inputSchema: { type: 'object', ...(nothing ? {} : input), additionalProperties: false },
    outputSchema: { type: 'object', ...output, additionalProperties: false },
    annotations: { readOnlyHint: reads, destructiveHint: false, idempotentHint: idempotent, openWorldHint: false },
  }
}

function chooses({ observation, action }: McpAgent): string {
  const words = wordsOf(action)
  const among = words === null ? describeSpace(action) : `one of ${words.join(', ')}`
  return `given what it observes (${describeSpace(observation)}), it chooses ${among}`
}

/** The observation, and what is legal. */
function askedSchema({ observation, action, mask_required: maskRequired }: McpAgent): Properties {
  const mask = maskSchema(action)
  const words = wordsOf(action)
  const need = maskRequired ? 'Required, here or as' : 'Default: every one. The full form is'
  const choices = {
    ...{ type: 'array', minItems: 1, uniqueItems: true, items: { type: 'string', enum: words } },
    description: `The choices that are legal now. ${need} mask.`,
  }
  const masked = {
    ...mask,
    description: `What is legal now, as the scenario's actionMask gives it.${maskRequired && words === null ? '' : ' Default: everything.'}`,
  }
  return {
    properties: {
      observation: observationSchema(observation),
      ...(words === null ? {} : { choices }),
      ...(mask === undefined ? {} : { mask: masked }),
    },
    required: ['observation', ...(maskRequired && words === null ? ['mask'] : [])],
  }
}

function decidedSchema({ action }: McpAgent): Properties {
  const words = wordsOf(action)
  const word = words === null ? { type: 'null' } : { type: 'string', enum: words }
  const probability = { type: 'number', minimum: 0, maximum: 1 }
  const choice = { properties: { choice: words === null ? { type: 'integer' } : word, probability } }
  const orNull = (schema: JsonSchema) => ({ anyOf: [schema, { type: 'null' }] })
  return {
    properties: {
      model: { type: 'string' },
      choice: { ...word, description: words === null ? 'The action has no words: see `action`.' : 'What to do.' },
      arguments: orNull({ type: 'object', description: 'Of the chosen tool, if it has parameters.' }),
      probability: orNull(probability),
      probabilities: orNull({
        type: 'array',
        items: { type: 'object', ...choice, required: ['choice', 'probability'] },
      }),
      confidence: orNull({ ...probability, description: 'The calibrated chance of success, if it is known.' }),
      action: { description: `As the scenario takes it: ${describeSpace(action)}.` },
    },
    required: ['model', 'choice', 'arguments', 'probability', 'probabilities', 'confidence', 'action'],
  }
}

/**
 * Arguments of a call: clients leave out what is empty, or send "" or null. Throws `request_invalid` for anything but an object
 * with the tool's properties.
 */
export function readMcpArguments({ name, inputSchema }: McpTool, given: unknown): Record<string, unknown> {
  const said = isOmitted(given) ? {} : given
  if (typeof said !== 'object' || said === null || Array.isArray(said)) {
    throw requestInvalid('arguments', `${name} takes an object`)
  }
  const { properties = {}, required = [] } = inputSchema as Partial<Properties>
  for (const key of Object.keys(said)) {
    if (Object.hasOwn(properties, key)) continue
    const known = Object.keys(properties).join(', ') || 'no arguments'
    throw requestInvalid(`arguments.${key}`.slice(0, 200), `${name} takes ${known}`)
  }
  const missing = required.find((key) => !Object.hasOwn(said, key))
  if (missing !== undefined) throw requestInvalid(`arguments.${missing}`, `${name} needs it`)
  return said as Record<string, unknown>
}

/** What several clients send for no arguments. */
export function isOmitted(given: unknown): boolean {
  return given === undefined || given === null || given === ''
}

/** What the agent is asked: an observation, and what is legal; undefined where the call does not say. Throws `request_invalid`. */
export function askedOf(
  { observation: given, choices, mask }: Record<string, unknown>,
  { observation, action }: AskedAgent,
): { observation: AgentAnswer['action']; mask: AgentAnswer['action'] | undefined } {
  // Language models write objects within arguments as text, now and then.
  const seen = typeof given === 'string' ? observationOf(given, observation, 'arguments.observation') : given
  return { observation: jsonOf(seen, 'arguments.observation'), mask: legalOf(choices, mask, action) }
}

function legalOf(choices: unknown, mask: unknown, action: AskedAgent['action']): AgentAnswer['action'] | undefined {
  if (isOmitted(choices)) return isOmitted(mask) ? undefined : jsonOf(mask, 'arguments.mask')
  if (!isOmitted(mask)) throw requestInvalid('arguments.choices', 'send choices or mask, not both')
  const known = wordsOf(action) ?? []
  const field = 'arguments.choices'
  if (!Array.isArray(choices) || choices.length === 0) throw requestInvalid(field, 'it must be a list of words')
  const unknown = choices.find((word) => !known.includes(word))
  if (unknown === undefined) return maskOfWords(action, new Set(choices))
  const said = JSON.stringify(unknown).slice(0, 200)
  throw requestInvalid(field, `the agent knows no ${said}; it chooses from ${known.join(', ')}`)
}

/** The agent's answer as the structured result of `decide` or `act`. */
export function mcpDecision(
  { action, label, probabilities, confidence = null }: AgentAnswer,
  { model, action: space }: McpAgent,
): Record<string, unknown> {
  const words = wordsOf(space)
  const choices = probabilities?.map((probability, i) => ({ choice: words?.[i] ?? i, probability })) ?? null
  const chosen = label ?? (typeof action === 'number' && space.type === 'discrete' ? action - space.start : null)
  const isTool = space.type === 'dict' && space.choice !== undefined && label !== null
  return {
    model,
    choice: words === null ? null : label,
    arguments: isTool ? ((action as Record<string, object>)[label] ?? {}) : null,
    probability: choices?.find(({ choice }) => choice === chosen)?.probability ?? null,
    probabilities: choices,
    confidence,
    action,
  }
}

/** A failure as the text of a tool's result, which a language model reads. */
export function mcpFailure(error: AgentGymError): string {
  return [error.message, error.hint].filter((text) => text !== undefined).join(' ')
}
