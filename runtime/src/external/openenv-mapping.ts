import { parseJson, type SpaceDescription } from '@agentgym/contract'
import { z } from 'zod'
import type { ScenarioDescription, ScenarioIdentity } from '../sandbox/vector-environment.ts'
import { externalError } from './external-failure.ts'
import type { ActionMapping, ExternalEndpoint, OpenEnvMapping, Parameter } from './external-source.ts'
import { choiceSpace, type JsonSchema, observedSpace, resolved, TEXT } from './json-space.ts'
import { ProcessSocket } from './process-socket.ts'
import { describeSpaces } from './space-sizes.ts'

const schemaAnswer = z.object({ action: z.looseObject({}), observation: z.looseObject({}) })
const metadataAnswer = z.object({ name: z.string().min(1).max(400), version: z.string().min(1).max(400).optional() })

/** An answer on OpenEnv's WebSocket. */
export const openEnvAnswerSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('observation'),
    data: z.object({
      observation: z.record(z.string(), z.unknown()),
      reward: z.union([z.number(), z.boolean()]).nullable().optional(),
      done: z.boolean().optional(),
      metadata: z.record(z.string(), z.unknown()).optional(),
    }),
  }),
  z.object({ type: z.literal('error'), data: z.looseObject({ message: z.string(), code: z.string().optional() }) }),
])
export type OpenEnvObservation = Extract<z.infer<typeof openEnvAnswerSchema>, { type: 'observation' }>['data']

const toolsAnswer = z.array(z.object({ name: z.string(), input_schema: z.looseObject({}).optional() }))

/** Asks an OpenEnv server what it is, with one episode that begins. Throws as `openEnvironmentTarget`. */
export async function describeOpenEnv(
  server: { url: string; key?: string },
  identity: ScenarioIdentity,
  timeoutMs: number,
): Promise<{
  endpoint: ExternalEndpoint
  name: string
  version: string
  versions: Record<string, string>
  description: ScenarioDescription
}> {
  const schema = await get(server, 'schema', schemaAnswer, identity, timeoutMs)
  const { name, version = '0.0.0' } = await get(server, 'metadata', metadataAnswer, identity, timeoutMs)
  const socket = await ProcessSocket.connect({ ...server, url: `${server.url}/ws` }, identity, timeoutMs)
  try {
    const title = String((schema.action as JsonSchema).title ?? '')
    const usesTools = ['Action', 'CallToolAction', 'ListToolsAction'].includes(title)
    const tools = usesTools ? await listTools(socket, identity) : null
    const first = await openEnvRequest(socket, identity, 'reset', {})
    const observed = mapObservation(identity, schema.observation as JsonSchema, { first, usesTools })
    const acted = tools === null ? mapAction(identity, schema.action as JsonSchema, first) : mapTools(identity, tools)
    const { masked = false } = acted
    const mapping = { observation: observed.mapping, action: acted.mapping, masked }
    const description = describeSpaces(
      identity,
      { observation: observed.space, action: acted.space },
      { maxSteps: null, masked },
    )
    const endpoint = { protocol: 'openenv', ...server, mapping } as const
    return { endpoint, name, version, versions: { [name]: version }, description }
  } finally {
    socket.close()
  }
}

/** One request on a socket of OpenEnv. Throws `environment_failed` with the server's words. */
export async function openEnvRequest(
  socket: ProcessSocket,
  identity: ScenarioIdentity,
  type: 'reset' | 'step',
  data: unknown,
  row?: number,
): Promise<OpenEnvObservation> {
  const answer = await socket.request(JSON.stringify({ type, data }))
  const parsed = openEnvAnswerSchema.safeParse(typeof answer === 'string' ? parseJson(answer) : undefined)
  const at = row === undefined ? {} : { row }
  if (!parsed.success) {
    throw externalError(identity, {
      code: 'environment_invalid',
      what: `its server answered a ${type} with something that is no observation of OpenEnv`,
      data: at,
    })
  }
  if (parsed.data.type === 'observation') return parsed.data.data
  const { message, code } = parsed.data.data
  const full = code === 'CAPACITY_REACHED'
  throw externalError(identity, {
    code: 'environment_failed',
    what: `its server refused a ${type}: ${message}`,
    hint: full
      ? 'Each environment takes a session, those of evaluations too: raise the capacity of the server, or use fewer (--set environments=N).'
      : undefined,
    data: { ...at, ...(code === undefined ? {} : { openenv_code: code }) },
  })
}

async function get<Answer>(
  { url, key }: { url: string; key?: string },
  path: string,
  schema: z.ZodType<Answer>,
  identity: ScenarioIdentity,
  timeoutMs: number,
): Promise<Answer> {
  const address = `${url.replace(/^ws/, 'http')}/${path}`
  const response = await fetch(address, {
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    signal: AbortSignal.timeout(timeoutMs),
    redirect: 'error',
  }).catch((error) => {
    const reason =
      error instanceof Error ? ((error.cause as Error | undefined)?.message ?? error.message) : String(error)
    throw externalError(identity, {
      code: 'environment_unreachable',
      what: `${address} cannot be reached: ${reason}`,
      hint: 'Start its server first, and check host, port and path.',
    })
  })
  const parsed = schema.safeParse(parseJson(await response.text()))
  if (response.ok && parsed.success) return parsed.data
  const what = `${address} does not answer as an OpenEnv server does (status ${response.status})`
  throw externalError(identity, { code: 'environment_invalid', what })
}

const notObserved = ['reward', 'done', 'metadata', 'legal_actions']

function mapObservation(
  identity: ScenarioIdentity,
  schema: JsonSchema,
  { first: { observation }, usesTools }: { first: OpenEnvObservation; usesTools: boolean },
) {
  const entries: { name: string; space: SpaceDescription }[] = []
  const mapping: OpenEnvMapping['observation'] = []
  const declared = Object.keys(schema.properties ?? {})
  // What only a reset says is in no step.
  const names = declared.length > 0 ? declared : Object.keys(observation)
  for (const name of names) {
    if (notObserved.includes(name)) continue
    const property = resolved(schema.properties?.[name] ?? {}, schema)
    // What a tool answered may be anything, and is read as its text; a reset has none.
    const isResult = usesTools && name === 'result' && property.type === undefined
    const space = isResult ? TEXT : observedSpace(property, observation[name])
    // Tools are described by themselves, and lists of objects have no fixed size.
    if (space === null) continue
    entries.push({ name, space })
    mapping.push({ name, values: valuesOf(property), text: space.type === 'text' })
  }
  if (entries.length > 0) return { space: { type: 'dict', entries } as SpaceDescription, mapping }
  const what = `its observation has no field that a policy can read: ${names.join(', ') || 'it is empty'}`
  throw externalError(identity, {
    code: 'environment_invalid',
    what,
    hint: 'Numbers, lists of numbers of one shape, texts, booleans and enumerations can be read.',
  })
}

type MappedAction = { space: SpaceDescription; mapping: ActionMapping; masked?: boolean }

function mapAction(identity: ScenarioIdentity, schema: JsonSchema, first: OpenEnvObservation): MappedAction {
  const { entries, parameters, constant, refused } = mapParameters(schema)
  const values = parameters.length === 1 ? parameters[0].values : null
  const legal = legalActions(first, values)
  const [only] = refused
  if (refused.length === 1 && entries.length === 0 && legal !== null && only.integer) {
    const n = 1 + Math.max(...legal)
    const space = {
      type: 'dict',
      entries: [{ name: only.name, space: { type: 'discrete', n, start: 0 } }],
    } as SpaceDescription
    return {
      space,
      mapping: { kind: 'fields', parameters: [{ name: only.name, values: null }], constant },
      masked: true,
    }
  }
  if (only !== undefined) throw unmappable(identity, `its action "${only.name}" ${only.reason}`)
  if (entries.length === 0) throw unmappable(identity, 'its action has nothing to choose')
  const masked = legal !== null && entries.length === 1 && entries[0].space.type === 'discrete'
  return { space: { type: 'dict', entries }, mapping: { kind: 'fields', parameters, constant }, masked }
}

function mapTools(identity: ScenarioIdentity, tools: z.infer<typeof toolsAnswer>): MappedAction {
  const entries: { name: string; space: SpaceDescription }[] = []
  const mapped = tools.map(({ name, input_schema }) => {
    const { entries: own, parameters, refused } = mapParameters((input_schema ?? {}) as JsonSchema)
    const [first] = refused
    if (first !== undefined)
      throw unmappable(identity, `the parameter "${first.name}" of its tool "${name}" ${first.reason}`)
    if (own.length > 0) entries.push({ name, space: { type: 'dict', entries: own } })
    return { name, parameters }
  })
  if (mapped.length === 0) throw unmappable(identity, 'its server lists no tools')
  const labels = mapped.map(({ name }) => name)
  const choice = { name: 'tool', space: { type: 'discrete', n: labels.length, start: 0, labels } as SpaceDescription }
  return {
    space: { type: 'dict', entries: [choice, ...entries], choice: 'tool' },
    mapping: { kind: 'tools', tools: mapped },
  }
}

/** What of an object's properties can be chosen; those that need not be given and cannot be chosen are left out. */
function mapParameters(schema: JsonSchema) {
  const entries: { name: string; space: SpaceDescription }[] = []
  const parameters: Parameter[] = []
  const constant: Record<string, unknown> = {}
  const refused: { name: string; reason: string; integer: boolean }[] = []
  for (const [name, given] of Object.entries(schema.properties ?? {})) {
    const property = resolved(given, schema)
    if (name === 'metadata') continue
    if (property.const !== undefined) {
      constant[name] = property.const
      continue
    }
    const space = choiceSpace(property)
    if (typeof space !== 'string') {
      entries.push({ name, space })
      parameters.push({ name, values: valuesOf(property) })
    } else if (schema.required?.includes(name)) {
      refused.push({ name, reason: space, integer: property.type === 'integer' })
    }
  }
  return { entries, parameters, constant, refused }
}

/** The values of a choice, which the index stands for; null where the index, or the number, is the value itself. */
function valuesOf({ enum: values, type }: JsonSchema): unknown[] | null {
  if (values !== undefined && values.length > 0) return values
  return type === 'boolean' ? [false, true] : null
}

/**
 * The legal choices of the one action: its indices, as environments of OpenSpiel and Atari list them, or its values. Null
 * where the observation lists none.
 */
export function legalActions(
  { observation }: Pick<OpenEnvObservation, 'observation'>,
  values: readonly unknown[] | null,
): number[] | null {
  const listed = z.array(z.union([z.int().nonnegative().max(4095), z.string()])).min(1)
  const parsed = listed.safeParse(observation.legal_actions)
  if (!parsed.success) return null
  return parsed.data.map((action) => (values === null ? Number(action) : values.indexOf(action)))
}

async function listTools(socket: ProcessSocket, identity: ScenarioIdentity): Promise<z.infer<typeof toolsAnswer>> {
  const { observation } = await openEnvRequest(socket, identity, 'step', { type: 'list_tools' })
  const tools = toolsAnswer.safeParse(observation.tools)
  if (tools.success) return tools.data
  throw unmappable(identity, 'its server does not list its tools')
}

function unmappable(identity: ScenarioIdentity, what: string): Error {
  return externalError(identity, {
    code: 'environment_invalid',
    what,
    hint: 'A policy chooses from enumerations, booleans, integers from a minimum to a maximum, and numbers.',
  })
}
