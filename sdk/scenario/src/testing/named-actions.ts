import type { DictDescription, SpaceDescription } from '../engine/read-space.ts'
import { idsIn } from '../tool-parameters.ts'

/**
 * An action with numbers in place of the names that a test may write: labels of choices, ids of the items that `observation`
 * shows, and a tool's call. What is no such name stays as it is, for the engine to refuse.
 */
export function actionWithoutNames(action: unknown, space: SpaceDescription, observation: unknown): unknown {
  if (space.type === 'discrete') {
    const name = isRecord(action) && Object.keys(action).join() === 'tool' ? action.tool : action
    if (typeof name !== 'string') return name
    const names = space.list === undefined ? (space.labels ?? []) : idsIn(observation, space.list)
    const index = names.indexOf(name)
    return index < 0 ? action : space.start + index
  }
  if (space.type !== 'dict' || !isRecord(action)) return action
  const whole = space.choice === 'tool' ? withArguments(action, space) : action
  const spaces = new Map(space.entries.map((entry) => [entry.name, entry.space]))
  const entries = Object.entries(whole).map(([name, value]) => {
    const own = spaces.get(name)
    return [name, own === undefined ? value : actionWithoutNames(value, own, observation)]
  })
  return Object.fromEntries(entries)
}

/** `{ tool, arguments }`, as an oracle writes a call, with the arguments under the name of the tool, as in the action space. */
function withArguments(call: Record<string, unknown>, space: DictDescription): Record<string, unknown> {
  const { tool, arguments: given, ...others } = call
  if (given === undefined || typeof tool !== 'string') return call
  const parametric = space.entries.some(({ name }) => name === tool)
  return parametric ? { tool, [tool]: given, ...others } : { tool, ...others }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value)
}
