import type { EpisodeContext } from './define-scenario.ts'
import { definitionError, describeValue } from './engine/faults.ts'
import { append, falses, isArray, nullObject, objectKeys } from './engine/primordials.ts'
import { isName } from './engine/read-space.ts'
import type { Script } from './engine/scripted-player.ts'
import { type ActionSpace, branches, dict, discrete, type Space } from './spaces.ts'
import {
  type AllowedOf,
  type ArgumentsOf,
  allLegal,
  type ParameterRecord,
  type PlayedParameter,
  parameterMask,
  readAllowed,
  readParameters,
  type ShownIds,
} from './tool-parameters.ts'

/** What one call of a tool did. Everything is optional. */
export type ToolResult = {
  /** Whether this was a right choice of tool here: pays `rewards.right` or `rewards.wrong`, counts in `tool_reliability`. */
  right?: boolean
  /** Further reward of this step. */
  reward?: number
  /** Ends the episode. */
  done?: boolean
  /** Cost of this call, where it differs from the tool's `cost`. */
  tokens?: number
  seconds?: number
}

/** A call as an oracle or rules write it. */
export type ToolCall<Name extends string = string> = {
  readonly tool: Name
  /** By parameter, in the form that `run` receives; left out for a tool without parameters. */
  readonly arguments?: { readonly [parameter: string]: unknown }
}

/** A tool with a simulated back end. `Parameters` by name; the agent chooses an argument for each. */
export type Tool<State, Parameters extends ParameterRecord = ParameterRecord> = {
  description: string
  parameters?: Parameters
  /** What one call costs, unless `run` says otherwise. */
  cost?: { tokens?: number; seconds?: number }
  /**
   * The arguments that are legal now, for some parameters; every argument of the others is. If a parameter has none, the tool
   * cannot be called. Asked for only where the tool is available.
   */
  allowed?(state: State): AllowedOf<Parameters>
  /** Plays the call; may mutate `state`. Synchronous. */
  run(state: State, args: ArgumentsOf<Parameters>, context: EpisodeContext): ToolResult
}

/** Returns the tool as it is; for the types of `args`: `tool({ parameters, run(state: State, args) { … } })`. */
export function tool<State, const Parameters extends ParameterRecord = Record<never, never>>(
  definition: Tool<State, Parameters>,
): Tool<State, Parameters> {
  return definition
}

/** A tool as it is played, whatever its parameters. */
export type PlayedTool<State> = {
  name: string
  tokens: number
  seconds: number
  parameters: readonly PlayedParameter[]
  /** Its entry of the action's mask where nothing is masked. */
  unmasked: Record<string, unknown>
  allowed: ((state: State) => unknown) | null
  run: (state: State, args: object, context: EpisodeContext) => unknown
}

export const NO_ARGUMENTS = Object.freeze({})

/** In place of names of tools. */
export const ALL = Object.freeze({})

export function readTools<State>(tools: unknown, observation: Space): PlayedTool<State>[] {
  if (typeof tools !== 'object' || tools === null) fail('tools must be an object: { search: { description, run }, … }')
  const played: PlayedTool<State>[] = []
  const names = objectKeys(tools)
  if (names.length === 0) fail('tools is empty: an agent needs at least one')
  for (let i = 0; i < names.length; i += 1) {
    const name = names[i]
    if (!isName(name) || name === 'tool') {
      fail(
        `tools: ${describeValue(name)} cannot name a tool: a letter, then letters, digits, _ or -, at most 64 in all, and not "tool"`,
      )
    }
    const tool = (tools as Record<string, Partial<Tool<State>> | null>)[name]
    if (typeof tool !== 'object' || tool === null) fail(`tools.${name} must be { description, run }`)
    const { description, parameters, cost, allowed, run } = tool
    if (typeof description !== 'string' || description === '')
      fail(`tools.${name}.description is missing: say what the tool does`)
    if (typeof run !== 'function') fail(`tools.${name}.run(state, args, { rng }) is missing: it must be a function`)
    if (allowed !== undefined && typeof allowed !== 'function') fail(`tools.${name}.allowed must be a function`)
    const own = readParameters(parameters ?? {}, observation, `defineToolScenario: tools.${name}.parameters`)
    append(played, {
      name,
      tokens: readCost(cost?.tokens, 0, `tools.${name}.cost.tokens`),
      seconds: readCost(cost?.seconds, 0, `tools.${name}.cost.seconds`),
      parameters: own,
      unmasked: allLegal(own),
      // Called as a method, so that \`this\` is the tool.
      allowed: allowed === undefined ? null : (state) => allowed.call(tool, state),
      run: run as PlayedTool<State>['run'],
    })
  }
  return played
}

export function actionSpaceOf<State>(tools: readonly PlayedTool<State>[]): { space: ActionSpace; parametric: boolean } {
  const labels: string[] = []
  for (let i = 0; i < tools.length; i += 1) append(labels, tools[i].name)
  const tool = discrete({ n: tools.length, labels })
  const entries: { name: string; space: ActionSpace }[] = [{ name: 'tool', space: tool }]
  for (let i = 0; i < tools.length; i += 1) {
    const { name, parameters } = tools[i]
    if (parameters.length === 0) continue
    const spaces = nullObject<ActionSpace>()
    for (let j = 0; j < parameters.length; j += 1) spaces[parameters[j].name] = parameters[j].space
    append(entries, { name, space: dict(spaces) })
  }
  const parametric = entries.length > 1
  return { space: parametric ? branches('tool', entries) : tool, parametric }
}

export function isMasked<State>(tools: readonly PlayedTool<State>[]): boolean {
  for (let i = 0; i < tools.length; i += 1) {
    if (tools[i].allowed !== null) return true
    for (let j = 0; j < tools[i].parameters.length; j += 1) if (tools[i].parameters[j].pointer) return true
  }
  return false
}

/** What `run` is given: the action's part of the tool, with words and ids in place of their numbers. */
export function argumentsOf<State>({ name, parameters }: PlayedTool<State>, action: unknown, shown: ShownIds): object {
  const chosen = (action as Record<string, Record<string, unknown>>)[name]
  const args = nullObject<unknown>()
  for (let i = 0; i < parameters.length; i += 1) {
    args[parameters[i].name] = parameters[i].argument(chosen[parameters[i].name], shown)
  }
  return args
}

/** The inverse of `argumentsOf`: each argument as the action space has it. */
export function actionOf<State>(
  who: Script,
  { name, parameters }: PlayedTool<State>,
  given: unknown,
  shown: ShownIds,
): object {
  if (typeof given !== 'object' || given === null)
    fail(`${who}: arguments of ${name} must be an object, got ${describeValue(given)}`)
  const action = nullObject<unknown>()
  for (let i = 0; i < parameters.length; i += 1) {
    const parameter = parameters[i]
    const value = (given as Record<string, unknown>)[parameter.name]
    if (value === undefined) fail(`${who}: ${name} needs the argument "${parameter.name}"`)
    const own = parameter.action(value, shown)
    if (own === -1 && value !== -1)
      fail(`${who}: ${name}.${parameter.name} cannot be ${describeValue(value)}: it is not among the choices`)
    action[parameter.name] = own
  }
  const names = objectKeys(given)
  for (let i = 0; i < names.length; i += 1) {
    if (action[names[i]] === undefined) fail(`${who}: ${name} has no parameter ${describeValue(names[i])}`)
  }
  return action
}

/** The mask of a tool's arguments; null where a parameter has none that is legal. */
export function maskArguments<State>(
  tool: PlayedTool<State>,
  state: State,
  shown: ShownIds,
): Record<string, unknown> | null {
  const path = `defineToolScenario: tools.${tool.name}.allowed`
  const allowed =
    tool.allowed === null ? nullObject<unknown>() : readAllowed(tool.allowed(state), tool.parameters, path)
  const masks = nullObject<unknown>()
  for (let i = 0; i < tool.parameters.length; i += 1) {
    const parameter = tool.parameters[i]
    const given = allowed[parameter.name]
    if (given === undefined && !parameter.pointer) {
      masks[parameter.name] = tool.unmasked[parameter.name]
      continue
    }
    const mask = parameterMask(parameter, given, shown, `${path}: ${parameter.name}`)
    if (mask === null) return null
    masks[parameter.name] = mask
  }
  return masks
}

export function toolMask<State>(names: unknown, tools: readonly PlayedTool<State>[]): boolean[] {
  const mask = falses(tools.length)
  if (names === ALL) {
    for (let i = 0; i < mask.length; i += 1) mask[i] = true
    return mask
  }
  if (!isArray(names)) fail(`available must return an array of tool names, got ${describeValue(names)}`)
  for (let i = 0; i < names.length; i += 1) {
    let index = 0
    while (index < tools.length && tools[index].name !== names[i]) index += 1
    if (index === tools.length) fail(`available returned ${describeValue(names[i])}, which is no tool`)
    mask[index] = true
  }
  return mask
}

export function requireResult(result: unknown, name: string): ToolResult {
  if (typeof result !== 'object' || result === null) {
    fail(`tools.${name}.run must return an object such as { right: true }, got ${describeValue(result)}`)
  }
  const { right, done } = result as ToolResult
  if (right !== undefined && typeof right !== 'boolean')
    fail(`tools.${name}.run: right must be a boolean, got ${describeValue(right)}`)
  if (done !== undefined && typeof done !== 'boolean')
    fail(`tools.${name}.run: done must be a boolean, got ${describeValue(done)}`)
  if (typeof (result as { then?: unknown }).then === 'function') fail(`tools.${name}.run must be synchronous`)
  return result
}

export function readCost(value: unknown, fallback: number, what: string): number {
  const cost = readNumber(value, fallback, what)
  if (cost < 0) fail(`${what} must not be negative, got ${cost}`)
  return cost
}

/** A finite number, or `fallback` if it is undefined. */
export function readNumber(value: unknown, fallback: number, what: string): number {
  return value === undefined ? fallback : requireNumber(value, what)
}

export function requireNumber(value: unknown, what: string): number {
  if (typeof value !== 'number' || value - value !== 0)
    fail(`${what} must be a finite number, got ${describeValue(value)}`)
  return value
}

export function fail(what: string): never {
  throw definitionError(`defineToolScenario: ${what}`)
}
