import type { EpisodeContext } from './define-scenario.ts'
import { definitionError } from './engine/definition-error.ts'
import { describeValue } from './engine/describe-value.ts'
import { append, nullObject, objectKeys } from './engine/primordials.ts'
import { isName } from './engine/read-space.ts'
import { type ActionSpace, type ActionSpaceRecord, dict, discrete } from './spaces.ts'
import type { Tool, ToolResult } from './tool-scenario-types.ts'

/** A tool as it is played, whatever its parameters. */
export type PlayedTool<State> = {
  name: string
  tokens: number
  seconds: number
  parameters: ActionSpaceRecord | null
  run: (state: State, args: object, context: EpisodeContext) => unknown
}

export function fail(what: string): never {
  throw definitionError(`defineToolScenario: ${what}`)
}

export function requireNumber(value: unknown, what: string): number {
  if (typeof value !== 'number' || value - value !== 0)
    fail(`${what} must be a finite number, got ${describeValue(value)}`)
  return value
}

/** A finite number, or what stands in where it is left out. */
export function readNumber(value: unknown, fallback: number, what: string): number {
  return value === undefined ? fallback : requireNumber(value, what)
}

export function readCost(value: unknown, fallback: number, what: string): number {
  const cost = readNumber(value, fallback, what)
  if (cost < 0) fail(`${what} must not be negative, got ${cost}`)
  return cost
}

export function readTools<State>(tools: unknown): PlayedTool<State>[] {
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
    const tool = (tools as Record<string, Partial<Tool<State, ActionSpaceRecord>> | null>)[name]
    if (typeof tool !== 'object' || tool === null) fail(`tools.${name} must be { description, run }`)
    const { description, parameters, cost, run } = tool
    if (typeof description !== 'string' || description === '')
      fail(`tools.${name}.description is missing: say what the tool does`)
    if (typeof run !== 'function') fail(`tools.${name}.run(state, args, { rng }) is missing: it must be a function`)
    const hasParameters = parameters !== undefined && objectKeys(parameters).length > 0
    append(played, {
      name,
      tokens: readCost(cost?.tokens, 0, `tools.${name}.cost.tokens`),
      seconds: readCost(cost?.seconds, 0, `tools.${name}.cost.seconds`),
      parameters: hasParameters ? parameters : null,
      run: run as PlayedTool<State>['run'],
    })
  }
  return played
}

export function actionSpaceOf<State>(tools: readonly PlayedTool<State>[]): { space: ActionSpace; parametric: boolean } {
  const labels: string[] = []
  const entries = nullObject<ActionSpace>()
  let parametric = false
  for (let i = 0; i < tools.length; i += 1) append(labels, tools[i].name)
  const tool = discrete({ n: tools.length, labels })
  entries.tool = tool
  for (let i = 0; i < tools.length; i += 1) {
    const { name, parameters } = tools[i]
    if (parameters === null) continue
    entries[name] = dict(parameters)
    parametric = true
  }
  return { space: parametric ? dict(entries) : tool, parametric }
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
