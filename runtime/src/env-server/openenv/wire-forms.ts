import { AgentGymError, parseJson } from '@agentgym/contract'
import { z } from 'zod'
import type { EpisodeSession, ResetOptions, StepInput, Turn } from '../episode-session.ts'
import { type JsonSchema, objectSchema, sampleSchema } from '../language/space-schema.ts'
import type { ServedEnvironment } from '../served-environment.ts'
import type { SplitName } from '../task-splits.ts'

/** Draft 2020-12 of JSON Schema, which OpenEnv's validator reads. */
const DRAFT = 'https://json-schema.org/draft/2020-12/schema'

/** Other fields are allowed: clients pass whole rows of data sets. */
export const resetSchema = z.looseObject({
  seed: z.int().nonnegative().nullish(),
  episode_id: z.string().max(255).nullish(),
  split: z.string().nullish(),
  index: z.int().nonnegative().nullish(),
})

export function resetOptions({ seed, episode_id, split, index }: z.infer<typeof resetSchema>): ResetOptions {
  return {
    seed: seed ?? undefined,
    episodeId: episode_id ?? undefined,
    split: (split ?? undefined) as SplitName | undefined,
    index: index ?? undefined,
  }
}

const metadata = z.record(z.string(), z.unknown()).optional()
const listTools = z.strictObject({ type: z.literal('list_tools'), metadata })
const callTool = z.strictObject({
  type: z.literal('call_tool').optional(),
  tool_name: z.string(),
  arguments: z.unknown().optional(),
  metadata,
})
const takeAction = z.strictObject({ action: z.unknown(), metadata })

/** What a step asks for: the list of tools, or an action. */
export type WireAction = { kind: 'list_tools' } | { kind: 'step'; input: StepInput; tool: string | null }

/**
 * Reads the data of a step: MCP-style actions are understood for every scenario, `{"action": …}` for those without tools. Throws
 * `action_invalid` for another form.
 */
export function readWireAction({ form }: ServedEnvironment, data: unknown): WireAction {
  if (listTools.safeParse(data).success) return { kind: 'list_tools' }
  const isCall = form.form === 'tools' || Object.hasOwn(Object(data), 'tool_name')
  const parsed = (isCall ? callTool : takeAction).safeParse(data)
  if (!parsed.success) {
    const expected = isCall ? '{"tool_name": "NAME", "arguments": {…}}' : '{"action": …}'
    const [issue] = parsed.error.issues
    throw new AgentGymError({
      code: 'action_invalid',
      message: `${['action', ...issue.path.map(String)].join('.')}: ${issue.message}.`,
      hint: `Send ${expected}; GET /schema describes it.`,
      data: { field: issue.path.map(String).join('.') || 'action' },
    })
  }
  if ('tool_name' in parsed.data) {
    const { tool_name: tool, arguments: given } = parsed.data
    return { kind: 'step', input: { tool, arguments: readArguments(given) }, tool }
  }
  const { action } = parsed.data
  return { kind: 'step', input: typeof action === 'string' ? { reply: action } : { action }, tool: null }
}

/** Models send no arguments as null, an empty text or not at all, and objects also as JSON text. */
export function readArguments(given: unknown): Record<string, unknown> {
  if (given === undefined || given === null || given === '') return {}
  const value = typeof given === 'string' ? parseJson(given) : given
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new AgentGymError({
    code: 'action_invalid',
    message: 'arguments is not an object.',
    data: { field: 'arguments' },
  })
}

/** An observation on the wire. `metadata` is beside it as well as in it. */
export type WireObservation = {
  observation: Record<string, unknown>
  reward: number | null
  done: boolean
  metadata?: Record<string, unknown>
}

/** What a reset answers: with the task in words, since a language model sees nothing else. */
export function wireReset({ environment, state }: EpisodeSession, turn: Turn): WireObservation {
  const { seed, split, index, episodeId } = state
  const task = split === null ? {} : { split, index }
  const about = { episode_id: episodeId, seed, ...task, truncated: false }
  return wire({ task: environment.form.task, text: turn.text, ...shared(turn) }, turn, about)
}

export function wireStep(session: EpisodeSession, turn: Turn, tool: string | null): WireObservation {
  const { return: sum, steps } = session.state
  const about = { truncated: turn.truncated, ...(turn.done ? { return: sum, steps, metrics: turn.metrics } : {}) }
  const said = tool === null ? { text: turn.text } : { tool_name: tool, result: turn.text }
  return wire({ ...said, error: null, ...shared(turn) }, turn, about)
}

/**
 * What a client gets whose words were no legal action: nothing was played, so nothing was paid and no step counted. A language model reads
 * the message and tries again.
 */
export function wireMistake(turn: Turn, tool: string | null, mistake: AgentGymError): WireObservation {
  const message = [mistake.message, mistake.hint].filter((part) => part !== undefined).join(' ')
  const error = { error_type: mistake.data.field === 'tool_name' ? 'tool_not_found' : 'invalid_args', message }
  const said = tool === null ? { text: message } : { tool_name: tool, result: null }
  return wire(
    { ...said, error, ...shared(turn) },
    { reward: 0, done: false },
    { truncated: false, invalid_action: true },
  )
}

function shared({ observation, legalActions }: Turn): Record<string, unknown> {
  return { data: observation, ...(legalActions === null ? {} : { legal_actions: legalActions }) }
}

function wire(
  observation: Record<string, unknown>,
  { reward, done }: Pick<Turn, 'reward' | 'done'>,
  about: Record<string, unknown>,
): WireObservation {
  return { observation: { ...observation, metadata: about }, reward, done, metadata: about }
}

export function wireTools({ form }: ServedEnvironment): WireObservation {
  const tools = form.tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    input_schema: inputSchema,
  }))
  return { observation: { tools, metadata: {} }, reward: null, done: false }
}

export function wireState({ state, environment }: EpisodeSession) {
  const { episodeId, steps, seed, split, index, done, return: sum } = state
  return {
    episode_id: episodeId,
    step_count: steps,
    seed,
    split,
    index,
    done,
    return: sum,
    environment: environment.name,
  }
}

/** What `GET /schema` answers. */
export function wireSchemas({ form, description }: ServedEnvironment) {
  const data = sampleSchema(description.observation)
  const legal: [string, JsonSchema][] = [['legal_actions', { type: 'array', items: { type: 'string' } }]]
  const text: [string, JsonSchema] = ['text', { type: 'string', description: 'The observation in words.' }]
  const called: [string, JsonSchema][] = [
    ['tool_name', { type: 'string' }],
    ['result', { type: ['string', 'null'], description: 'What the call brought, in words.' }],
  ]
  const step: [string, JsonSchema][] = [
    ...(form.form === 'tools' ? called : [text]),
    ['error', toolError],
    ['data', data],
  ]
  const reset: [string, JsonSchema][] = [['task', { type: 'string' }], text, ['data', data]]
  return {
    action: form.form === 'tools' ? callToolSchema(form.tools) : wordSchema(form.actionSchema()),
    observation: observationSchema('StepObservation', step, legal, { type: 'number' }),
    reset_observation: observationSchema('ResetObservation', reset, legal, { type: ['number', 'null'] }),
    state: stateSchema,
  }
}

const toolError = {
  anyOf: [
    { type: 'null' },
    objectSchema([
      ['error_type', { type: 'string' }],
      ['message', { type: 'string' }],
    ]),
  ],
}

/** As the client merges it: the fields of `observation`, with `reward` and `done`. */
function observationSchema(
  title: string,
  required: [string, JsonSchema][],
  optional: [string, JsonSchema][],
  reward: JsonSchema,
): JsonSchema {
  const always = objectSchema([
    ...required,
    ['metadata', { type: 'object' }],
    ['reward', reward],
    ['done', { type: 'boolean' }],
  ])
  const properties = { ...(always.properties as JsonSchema), ...Object.fromEntries(optional) }
  return { $schema: DRAFT, title, ...always, properties }
}

/** One required field: clients put a model's plain text there. */
function wordSchema(action: JsonSchema): JsonSchema {
  const properties = { action, metadata: { type: 'object', default: {} } }
  return {
    $schema: DRAFT,
    title: 'StepAction',
    type: 'object',
    properties,
    required: ['action'],
    additionalProperties: false,
  }
}

/** Titled as OpenEnv's own, by which clients know that `list_tools` says more. */
function callToolSchema(tools: readonly { name: string }[]): JsonSchema {
  const properties = {
    type: { const: 'call_tool', default: 'call_tool', type: 'string' },
    tool_name: { type: 'string', enum: tools.map(({ name }) => name) },
    arguments: { type: 'object', default: {} },
    metadata: { type: 'object', default: {} },
  }
  return {
    $schema: DRAFT,
    title: 'CallToolAction',
    type: 'object',
    properties,
    required: ['tool_name'],
    additionalProperties: false,
  }
}

const optionalText = { type: ['string', 'null'] }
const optionalInteger = { type: ['integer', 'null'] }

const stateSchema: JsonSchema = {
  $schema: DRAFT,
  title: 'State',
  ...objectSchema([
    ['episode_id', optionalText],
    ['step_count', { type: 'integer', minimum: 0 }],
    ['seed', optionalInteger],
    ['split', optionalText],
    ['index', optionalInteger],
    ['done', { type: 'boolean' }],
    ['return', { type: 'number' }],
    ['environment', { type: 'string' }],
  ]),
}
