import {
  AgentGymError,
  type AgentManifest,
  type ChatCompletion,
  type ChatRequest,
  type ErrorReport,
  errorCatalog,
  type HostedCall,
  hostedCallRequestSchema,
  type SpaceDescription,
} from '@agentgym/contract'
import { sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { FailureFormat } from '../../core/http/env.ts'

/** Size limit of an observation. */
const observationBytes = 256 * 1024

/** `@scope/name[@range]`. Throws `request_invalid` if it cannot name an agent. */
export function modelOf({ model }: ChatRequest): { name: string; version?: string } {
  const [, name, version] = /^(@[^/@]+\/[^/@]+)(?:@(.{1,64}))?$/s.exec(model) ?? []
  if (name === undefined) throw invalid('model', 'the model must be @scope/name or @scope/name@version')
  return { name, version }
}

/** The observation: the text of the last user or tool message. Throws `request_invalid`, `request_too_large`. */
export function observedText({ messages }: ChatRequest): string {
  const message = messages.findLast(({ role }) => role === 'user' || role === 'tool')
  const { content } = message ?? {}
  const parts = Array.isArray(content) ? content : [{ type: 'text', text: content ?? undefined }]
  if (parts.some(({ type, text }) => type !== 'text' || typeof text !== 'string'))
    throw invalid('messages', 'the last user message must contain the observation as text')
  const text = parts.map(({ text }) => text).join('')
  if (Buffer.byteLength(text) <= observationBytes) return text
  throw new AgentGymError({
    code: 'request_too_large',
    message: `The observation is larger than ${observationBytes} bytes.`,
    data: { limit_bytes: observationBytes },
  })
}

/**
 * Parses an observation: JSON or, if it is not JSON, the text itself. An agent that observes text gets the text
 * unchanged, including `42`, unless it is a JSON string. Throws `request_invalid` if it is nested too deep.
 */
export function observationOf(text: string, space: SpaceDescription | undefined): HostedCall['action'] {
  const parsed = parseJson(text)
  if (parsed === undefined || (space?.type === 'text' && typeof parsed.value !== 'string')) return text
  const checked = hostedCallRequestSchema.shape.observation.safeParse(parsed.value)
  if (checked.success) return checked.data
  throw invalid('messages', `the observation ${checked.error.issues[0].message}`)
}

function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

type Completion = {
  request: ChatRequest
  call: HostedCall
  /** The agent's, of its manifest. */
  action: SpaceDescription | undefined
  /** The observation. */
  observed: string
  now: Date
}

/** The agent's answer as a chat completion: a tool call if the action names a tool of the request, else JSON. */
export function chatCompletion({ request, call, action, observed, now }: Completion): ChatCompletion {
  const tool = toolOf(request, call, action)
  const content = tool === undefined ? JSON.stringify({ action: call.action, label: call.label }) : null
  // Policies have no tokens: four characters count as one, a common average.
  const [prompt, completion] = [observed, content ?? tool?.arguments ?? ''].map(({ length }) => Math.ceil(length / 4))
  const toolCalls = tool && [{ id: `call_${call.id.replaceAll('-', '')}`, type: 'function' as const, function: tool }]
  return {
    id: `chatcmpl-${call.id}`,
    object: 'chat.completion',
    created: Math.floor(now.getTime() / 1_000),
    model: `${call.package}@${call.version}`,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, refusal: null, ...(toolCalls && { tool_calls: toolCalls }) },
        logprobs: null,
        finish_reason: tool === undefined ? 'stop' : 'tool_calls',
      },
    ],
    usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
  }
}

/**
 * The tool that the action calls: by its label, or in the form of tool scenarios, `{ tool: index, NAME: parameters }`.
 */
function toolOf(
  { tools, tool_choice }: ChatRequest,
  { action, label }: HostedCall,
  space: SpaceDescription | undefined,
): { name: string; arguments: string } | undefined {
  const offered = new Set(tools?.flatMap((tool) => tool.function?.name ?? []))
  if (offered.size === 0 || tool_choice === 'none') return undefined
  const parts = isRecord(action) && space?.type === 'dict' ? { action, entries: space.entries } : undefined
  const name = label ?? (parts && labeled(parts.action.tool, entryOf(parts.entries, 'tool')))
  if (typeof name !== 'string' || !offered.has(name)) return undefined
  const given = parts !== undefined && Object.hasOwn(parts.action, name) ? parts.action[name] : {}
  return { name, arguments: JSON.stringify(labeled(given, parts && entryOf(parts.entries, name))) }
}

type Entries = Extract<SpaceDescription, { type: 'dict' }>['entries']

const entryOf = (entries: Entries, name: string) => entries.find((entry) => entry.name === name)?.space
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Replaces the choices in a value by their labels, because clients know a tool's parameters by words, not numbers. */
function labeled(value: unknown, space: SpaceDescription | undefined): unknown {
  if (space?.type === 'discrete' && typeof value === 'number') return space.labels?.[value - space.start] ?? value
  if (space?.type !== 'dict' || !isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, labeled(part, entryOf(space.entries, name))]),
  )
}

/** The same as server-sent events: the answer in one chunk, the end, and the usage if requested. */
export function chatChunks(completion: ChatCompletion, { stream_options }: ChatRequest): string {
  const { usage, choices, ...head } = completion
  const [{ message, finish_reason }] = choices
  const { tool_calls, ...said } = message
  const delta = { ...said, ...(tool_calls && { tool_calls: tool_calls.map((call, index) => ({ index, ...call })) }) }
  const chunk = (parts: object[], more: object = {}) => ({
    ...{ ...head, object: 'chat.completion.chunk', choices: parts, ...more },
  })
  const events = [
    chunk([{ index: 0, delta, logprobs: null, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, logprobs: null, finish_reason }]),
    ...(stream_options?.include_usage === true ? [chunk([], { usage })] : []),
  ]
  return `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`
}

function invalid(field: string, why: string): AgentGymError {
  return new AgentGymError({
    code: 'request_invalid',
    message: `The field "${field}" of the body is invalid: ${why}.`,
    data: { field, in: 'json' },
  })
}

const types: Record<number, string> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
}

/** Errors in OpenAI's format. Its clients print the message alone, so it includes the hint. */
export const openAiFailures: FailureFormat = { body: openAiErrorBody, challenge: true }

function openAiErrorBody({ code, message, hint, data }: ErrorReport) {
  const { status } = errorCatalog[code]
  const type = types[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error')
  const param = typeof data?.field === 'string' ? data.field : null
  return { error: { message: hint === undefined ? message : `${message} ${hint}`, type, param, code, data } }
}

/** The observation and action spaces of an agent's version; undefined if it has no manifest. */
export async function spacesOf(
  query: Queries,
  which: { versionId: string } | { package: string; version: string },
): Promise<AgentSpaces | undefined> {
  const row = await query
    .selectFrom('agent_versions')
    .innerJoin('versions', 'versions.id', 'agent_versions.version_id')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .select('agent_versions.manifest')
    .$if('versionId' in which, (found) => found.where('versions.id', '=', 'versionId' in which ? which.versionId : ''))
    .$if('package' in which, (found) =>
      found
        .where('packages.name', '=', 'package' in which ? which.package : '')
        .where('versions.version', '=', 'package' in which ? which.version : ''),
    )
    .executeTakeFirst()
  return row && { ...row.manifest.scenario, remembers: row.manifest.policy.memory !== undefined }
}

type AgentSpaces = Pick<AgentManifest['scenario'], 'observation' | 'action'> & { remembers: boolean }

/** Chat completions cannot carry an agent's memory between calls. Throws `request_invalid` for an agent with memory. */
export function refuseMemory(agent: AgentSpaces | undefined): void {
  if (agent?.remembers !== true) return
  throw invalid('model', 'this agent remembers earlier observations: call it by /v1/packages/…/calls, with its `state`')
}

type CallableAgent = { name: string; owner: string; created_at: Date }

/** Agents that an account or its organizations own or bought: the first hundred by name. */
export async function callableAgents(query: Queries, accountId: string): Promise<CallableAgent[]> {
  const { rows } = await sql<CallableAgent>`
    with holders as (
      select ${accountId}::uuid as id union select organisation_id from memberships where user_id = ${accountId})
    select packages.name, accounts.username as owner, packages.created_at
    from packages join accounts on accounts.id = packages.owner_id
    where packages.kind = 'agent'
      and exists (select from versions where package_id = packages.id and state = 'published')
      and (packages.owner_id in (select id from holders) or (not packages.taken_down_for_all and exists (
        select from entitlements where entitlements.package_id = packages.id and revoked_at is null
          and holder_id in (select id from holders))))
    order by packages.name limit 100`.execute(query)
  return rows
}
