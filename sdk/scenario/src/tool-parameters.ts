import { definitionError, describeValue } from './engine/faults.ts'
import {
  append,
  falses,
  isArray,
  isInteger,
  nullObject,
  objectFreeze,
  objectHasOwn,
  objectKeys,
} from './engine/primordials.ts'
import { listNamed } from './engine/read-definition.ts'
import { indexOf, type SpaceDescription } from './engine/read-space.ts'
import {
  type ActionOf,
  type ActionSpace,
  choiceSpace,
  type DiscreteSpace,
  discrete,
  type Space,
  scalar,
} from './spaces.ts'

/** One of some words. */
export type ChoiceParameter<Value extends string = string> = {
  readonly type: 'choice'
  readonly values: readonly Value[]
  readonly default?: Value
}
/** A number from `low` to `high`. */
export type NumberParameter = {
  readonly type: 'number'
  readonly low: number
  readonly high: number
  readonly integer?: boolean
  readonly default?: number
}
/** An item of a list that the observation shows. */
export type PointerParameter = { readonly type: 'pointer'; readonly list: string }

/** What a tool may be called with. An action space is passed on to the tool as it is. */
export type Parameter = ActionSpace | ChoiceParameter | NumberParameter | PointerParameter
export type ParameterRecord = { readonly [name: string]: Parameter }

/** What a tool is given for a parameter. */
export type ArgumentOf<P extends Parameter> =
  P extends ChoiceParameter<infer Value>
    ? Value
    : P extends NumberParameter
      ? number
      : P extends PointerParameter
        ? string
        : P extends ActionSpace
          ? ActionOf<P>
          : never
export type ArgumentsOf<Parameters extends ParameterRecord> = {
  [Name in keyof Parameters]: ArgumentOf<Parameters[Name]>
}

type Maskable = ChoiceParameter | PointerParameter | DiscreteSpace
/** For some parameters the arguments that are legal now. */
export type AllowedOf<Parameters extends ParameterRecord> = {
  readonly [Name in keyof Parameters as Parameters[Name] extends Maskable ? Name : never]?: readonly ArgumentOf<
    Parameters[Name]
  >[]
}

/** A parameter that is one of these words; the tool is given the word. `default` is used where arguments are not trained. */
export function choice<const Value extends string>(
  values: readonly Value[],
  options: { default?: Value } = {},
): ChoiceParameter<Value> {
  if (!isArray(values)) fail('choice', `must be given an array of words, got ${describeValue(values)}`)
  const copy: Value[] = []
  for (let i = 0; i < values.length; i += 1) {
    if (indexOf(copy, values[i]) >= 0) fail('choice', `has the word ${describeValue(values[i])} twice`)
    append(copy, values[i])
  }
  return objectFreeze({ type: 'choice', values: objectFreeze(copy), default: options.default })
}

/** A parameter that is a number from `low` to `high`, rounded where `integer` is set. Default: the middle. */
export function number(options: { low: number; high: number; integer?: boolean; default?: number }): NumberParameter {
  const { low, high, integer, default: fixed } = options ?? {}
  if (!isReal(low) || !isReal(high) || !(low < high)) {
    fail('number', `must have finite bounds, low below high, got ${describeValue(low)} and ${describeValue(high)}`)
  }
  if (integer === true && !(isInteger(low) && isInteger(high))) fail('number', 'has bounds that are not integers')
  return objectFreeze({ type: 'number', low, high, integer: integer === true, default: fixed })
}

/**
 * A parameter that is an item of a list in the observation, by the list's name (dotted within dicts); the tool is given the
 * item's id. While the list is empty, the tool cannot be called. Default: the first item.
 */
export function pointer(list: string): PointerParameter {
  if (typeof list !== 'string') fail('pointer', `must be given the name of a list, got ${describeValue(list)}`)
  return objectFreeze({ type: 'pointer', list })
}

/** Ids of the items that a list showed last. */
export type ShownIds = (list: string) => readonly string[]

/** A parameter as it is played. */
export type PlayedParameter = {
  name: string
  space: ActionSpace
  /** The tool's argument for a decoded action. */
  argument(value: unknown, shown: ShownIds): unknown
  /** The inverse of `argument`; -1 for a word or an id that is not among the choices. */
  action(argument: unknown, shown: ShownIds): unknown
  /** Every argument that can be, in the order of the choices; null: nothing can be masked. */
  arguments: ((shown: ShownIds) => readonly unknown[]) | null
  /** Length of the mask. */
  choices: number
  /** Whether the choices depend on what has been shown. */
  pointer: boolean
}

/** Compiles the parameters of a tool. Throws a TypeError that names what is wrong. */
export function readParameters(parameters: ParameterRecord, observation: Space, path: string): PlayedParameter[] {
  const played: PlayedParameter[] = []
  const names = objectKeys(parameters)
  for (let i = 0; i < names.length; i += 1) {
    append(played, readParameter(parameters[names[i]], names[i], observation, `${path}.${names[i]}`))
  }
  return played
}

const same = (value: unknown) => value

function readParameter(parameter: Parameter, name: string, observation: Space, path: string): PlayedParameter {
  if (typeof parameter !== 'object' || parameter === null) {
    fail(path, `must be made by choice, number, pointer or a space, got ${describeValue(parameter)}`)
  }
  const played = { name, pointer: false, choices: 0, arguments: null, argument: same, action: same }
  switch (parameter.type) {
    case 'choice': {
      const { values } = parameter
      const fixed = parameter.default === undefined ? 0 : indexOf(values, parameter.default)
      if (fixed < 0) fail(path, `has the default ${describeValue(parameter.default)}, which is not among its words`)
      const space = choiceSpace({ n: values.length, labels: values, default: fixed }, path)
      const argument = (index: unknown) => values[index as number]
      const action = (word: unknown) => indexOf(values, word as string)
      return { ...played, space, argument, action, arguments: () => values, choices: values.length }
    }
    case 'number': {
      const { low, high, integer = false } = parameter
      const middle = integer ? low + (high - low - ((high - low) % 2)) / 2 : low / 2 + high / 2
      return { ...played, space: scalar({ low, high, integer, default: parameter.default ?? middle }, path) }
    }
    case 'pointer': {
      const { list } = parameter
      const pointed = listNamed(observation as SpaceDescription, list)
      if (pointed === null) fail(path, `points to "${list}", and the observation has no list of that name`)
      const argument = (index: unknown, shown: ShownIds) => {
        const id = shown(list)[index as number]
        return id === undefined ? fail(path, `points to slot ${index} of "${list}", which is empty`) : id
      }
      const space = choiceSpace({ n: pointed.slots, list }, path)
      const ids = (shown: ShownIds) => shown(list)
      const action = (id: unknown, shown: ShownIds) => indexOf(shown(list), id as string)
      return { ...played, space, argument, action, arguments: ids, choices: pointed.slots, pointer: true }
    }
    case 'discrete': {
      const { n, start } = parameter
      const values: number[] = []
      for (let i = 0; i < n; i += 1) append(values, start + i)
      return { ...played, space: parameter, arguments: () => values, choices: n }
    }
    default:
      return { ...played, space: parameter }
  }
}

/**
 * The mask of one parameter: of the arguments that there are, those in `allowed`, or all where it is undefined. Null: none is
 * legal.
 */
export function parameterMask(
  parameter: PlayedParameter,
  allowed: unknown,
  shown: ShownIds,
  path: string,
): boolean[] | null {
  if (parameter.arguments === null)
    return fail(path, 'cannot be masked: only choices, pointers and discrete spaces can')
  const values = parameter.arguments(shown)
  const mask = falses(parameter.choices)
  if (allowed === undefined) {
    for (let i = 0; i < mask.length; i += 1) mask[i] = i < values.length
    return values.length === 0 ? null : mask
  }
  if (!isArray(allowed)) fail(path, `must be an array of arguments, got ${describeValue(allowed)}`)
  for (let i = 0; i < allowed.length; i += 1) {
    let index = 0
    while (index < values.length && values[index] !== allowed[i]) index += 1
    if (index === values.length) fail(path, `has ${describeValue(allowed[i])}, which is not among its arguments`)
    mask[index] = true
  }
  return allowed.length === 0 ? null : mask
}

/** What `allowed` returned, its keys checked. */
export function readAllowed(
  allowed: unknown,
  parameters: readonly PlayedParameter[],
  path: string,
): Record<string, unknown> {
  if (typeof allowed !== 'object' || allowed === null)
    fail(path, `must return an object, got ${describeValue(allowed)}`)
  const copy = nullObject<unknown>()
  const names = objectKeys(allowed)
  for (let i = 0; i < names.length; i += 1) {
    let known = false
    for (let j = 0; j < parameters.length; j += 1) if (parameters[j].name === names[i]) known = true
    if (!known) fail(path, `returned ${describeValue(names[i])}, which is no parameter`)
    copy[names[i]] = (allowed as Record<string, unknown>)[names[i]]
  }
  return copy
}

/** The mask of a tool's parameters that leaves every argument legal. */
export function allLegal(parameters: readonly PlayedParameter[]): Record<string, unknown> {
  const masks = nullObject<unknown>()
  for (let i = 0; i < parameters.length; i += 1) masks[parameters[i].name] = allLegalIn(parameters[i].space)
  return masks
}

/** A mask that leaves everything legal. */
function allLegalIn(space: Space): unknown {
  if (space.type === 'discrete') {
    const mask: boolean[] = []
    for (let i = 0; i < space.n; i += 1) append(mask, true)
    return mask
  }
  if (space.type === 'multiDiscrete') {
    const mask: unknown[] = []
    for (let i = 0; i < space.nvec.length; i += 1) append(mask, allLegalIn(discrete({ n: space.nvec[i] })))
    return mask
  }
  const mask = nullObject<unknown>()
  if (space.type === 'dict') {
    for (let i = 0; i < space.entries.length; i += 1) mask[space.entries[i].name] = allLegalIn(space.entries[i].space)
  }
  return mask
}

/** Ids of a list in a sample of the observation, in the order of its slots. */
export function idsIn(sample: unknown, list: string): string[] {
  let part: unknown = sample
  let start = 0
  for (let end = 0; end <= list.length; end += 1) {
    if (end < list.length && list[end] !== '.') continue
    let key = ''
    for (let i = start; i < end; i += 1) key += list[i]
    start = end + 1
    if (typeof part !== 'object' || part === null || !objectHasOwn(part, key)) {
      if (list !== '') return []
    } else part = (part as Record<string, unknown>)[key]
  }
  const ids: string[] = []
  if (!isArray(part)) return ids
  for (let i = 0; i < part.length; i += 1) append(ids, (part[i] as { id: string }).id)
  return ids
}

function isReal(value: unknown): value is number {
  return typeof value === 'number' && value - value === 0
}

function fail(path: string, what: string): never {
  throw definitionError(`${path} ${what}`)
}
