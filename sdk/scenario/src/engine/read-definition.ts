import type { RowSizes } from './environment-buffers.ts'
import { definitionError, describeThrown, describeValue, EngineFault } from './faults.ts'
import {
  append,
  defineConstant,
  isArray,
  isInteger,
  objectCreate,
  regExpExec,
  stringSlice,
  wellFormed,
} from './primordials.ts'
import {
  columnsOf,
  type ListDescription,
  logitsOf,
  readSpace,
  type SpaceDescription,
  textColumnsOf,
} from './read-space.ts'

const MAX_STEPS = 1e9
const MAX_TASKS = 1e9
const MIN_LEVELS = 2
const MAX_LEVELS = 16
const MAX_ACTION_COLUMNS = 4096
const MAX_LOGITS = 1 << 16

/** What a scenario says of itself once it is loaded. */
export type ScenarioDescription = {
  observation: SpaceDescription
  action: SpaceDescription
  /** The time limit: an episode is truncated after this many steps. */
  maxSteps: number
  /** Numbered tasks; 0 where the scenario has none. */
  tasks: { train: number; eval: number }
  /** Present where the scenario has levels. */
  levels?: LevelDescription[]
  masked: boolean
  /** Present where one observation does not say enough: the author asks for a policy that remembers. */
  memory?: true
  /** Present where the author gave a scripted player. */
  oracle?: true
  /** Present where the author gave rules that need no training. */
  rules?: true
  /** Present where the scenario draws itself. */
  renders?: true
  /** Of a scenario of tools: what each of them does, in the order of the action's choices. */
  tools?: ToolDescription[]
  sizes: RowSizes
}

/** A tool as its author describes it. */
export type ToolDescription = { name: string; description: string }

/** A level as its author names it. */
export type LevelDescription = { name: string; description?: string }

type GuestFunction = (...rest: never[]) => unknown

/** The author's callbacks, bound to the definition, so that `this` works in them. */
export type ScenarioCallbacks = {
  reset: (context: unknown) => unknown
  step: (state: unknown, action: unknown, context: unknown) => unknown
  observe: (state: unknown) => unknown
  actionMask: ((state: unknown) => unknown) | null
  metrics: ((state: unknown) => unknown) | null
  oracle: ((state: unknown, context: unknown) => unknown) | null
  rules: ((observation: unknown, context: unknown) => unknown) | null
  render: ((state: unknown) => unknown) | null
}

function fail(what: string): never {
  throw definitionError(what)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function requireFunction(value: unknown, signature: string): GuestFunction {
  if (typeof value !== 'function') fail(`${signature} is missing: it must be a function, got ${describeValue(value)}`)
  return value as GuestFunction
}

function optionalFunction(value: unknown, signature: string): GuestFunction | null {
  return value === undefined ? null : requireFunction(value, signature)
}

function requireCount(value: unknown, field: string, smallest: number, largest: number): number {
  if (!isInteger(value) || value < smallest || value > largest) {
    fail(`${field} must be an integer from ${smallest} to ${largest}, got ${describeValue(value)}`)
  }
  return value
}

function readMemory(value: unknown): { memory?: true } {
  if (value !== undefined && value !== true && value !== false) {
    fail(`memory must be true or false, got ${describeValue(value)}`)
  }
  return value === true ? { memory: true } : {}
}

function readTasks(value: unknown): { train: number; eval: number } {
  if (value === undefined) return { train: 0, eval: 0 }
  if (!isObject(value)) fail(`tasks must be { train: number, eval: number }, got ${describeValue(value)}`)
  const train = requireCount(value.train, 'tasks.train', 1, MAX_TASKS)
  const held = value.eval
  return { train, eval: held === undefined ? 0 : requireCount(held, 'tasks.eval', 1, MAX_TASKS) }
}

/** Printable characters without a space at either end: tables and terminals show it. */
const LEVEL_TEXT = /^[^\s\p{C}](?:[^\p{C}\p{Zl}\p{Zp}]*[^\s\p{C}])?$/u

function readLevelText(value: unknown, field: string, longest: number): string {
  if (typeof value !== 'string' || value.length > longest || regExpExec(LEVEL_TEXT, value) === null) {
    fail(
      `${field} must be one line of 1 to ${longest} characters, without spaces around it, got ${describeValue(value)}`,
    )
  }
  return value
}

function readLevels(value: unknown): { levels?: LevelDescription[] } {
  if (value === undefined) return {}
  const length = isArray(value) ? value.length : 0
  if (!isArray(value) || length < MIN_LEVELS || length > MAX_LEVELS) {
    const found = isArray(value) ? `a list of ${length}` : describeValue(value)
    fail(
      `levels must be a list of ${MIN_LEVELS} to ${MAX_LEVELS} { name, description? }, got ${found}; leave it out for one level`,
    )
  }
  const levels: LevelDescription[] = []
  for (let i = 0; i < length; i += 1) {
    const level: unknown = value[i]
    if (!isObject(level)) fail(`levels[${i}] must be { name, description? }, got ${describeValue(level)}`)
    const name = readLevelText(level.name, `levels[${i}].name`, 40)
    for (let j = 0; j < i; j += 1) {
      if (levels[j].name === name) fail(`levels[${i}].name is ${describeValue(name)}, the name of levels[${j}]`)
    }
    const { description } = level
    append(levels, {
      name,
      ...(description === undefined
        ? {}
        : { description: readLevelText(description, `levels[${i}].description`, 200) }),
    })
  }
  return { levels }
}

const MAX_TOOL_DESCRIPTION = 1000

/** `toolDescriptions` is written by `defineToolScenario`: one text a tool. Longer ones are cut. */
function readToolDescriptions(value: unknown, action: SpaceDescription): { tools?: ToolDescription[] } {
  const labels = toolNamesOf(action)
  if (value === undefined || labels === undefined) return {}
  if (!isArray(value) || value.length !== labels.length) fail('toolDescriptions must be one text a tool')
  const tools: ToolDescription[] = []
  for (let i = 0; i < labels.length; i += 1) {
    const text = value[i]
    if (typeof text !== 'string') fail(`toolDescriptions[${i}] must be a text, got ${describeValue(text)}`)
    append(tools, { name: labels[i], description: wellFormed(stringSlice(text, 0, MAX_TOOL_DESCRIPTION)) })
  }
  return { tools }
}

/** The words of the action that a tool scenario has: a choice, alone or of the entry that counts. */
function toolNamesOf(action: SpaceDescription): string[] | undefined {
  if (action.type === 'discrete') return action.labels
  if (action.type !== 'dict' || action.choice === undefined) return undefined
  for (let i = 0; i < action.entries.length; i += 1) {
    const { name, space } = action.entries[i]
    if (name === action.choice && space.type === 'discrete') return space.labels
  }
  return undefined
}

/** An action has no texts and no lists, and its pointers point to lists of the observation. */
function checkAction(space: SpaceDescription, path: string, observation: SpaceDescription): void {
  if (space.type === 'text' || space.type === 'list') {
    fail(
      `${path}: an action cannot be ${space.type === 'text' ? 'text' : 'a list'}; use discrete, multiDiscrete, box or a dict of those`,
    )
  }
  if (space.type === 'discrete' && space.list !== undefined) {
    const pointed = listNamed(observation, space.list)
    if (pointed === null) fail(`${path}: the observation has no list named "${space.list}"`)
    if (pointed.slots !== space.n)
      fail(`${path}: has ${space.n} choices, and the list "${space.list}" ${pointed.slots} slots`)
  }
  if (space.type !== 'dict') return
  for (let i = 0; i < space.entries.length; i += 1) {
    checkAction(space.entries[i].space, `${path}.${space.entries[i].name}`, observation)
  }
}

/** A list in a space by its dotted path; null where there is none. */
export function listNamed(space: SpaceDescription, name: string, path = ''): ListDescription | null {
  if (space.type === 'list') return path === name ? space : null
  if (space.type !== 'dict') return null
  for (let i = 0; i < space.entries.length; i += 1) {
    const entry = space.entries[i]
    const found = listNamed(entry.space, name, path === '' ? entry.name : `${path}.${entry.name}`)
    if (found !== null) return found
  }
  return null
}

/** Choices and numbers of tools have fields that mean nothing in an observation. */
function checkObservation(space: SpaceDescription, path: string): void {
  if (space.type === 'box' && space.shape.length === 0) fail(`${path}.shape: must have 1 to 8 entries, has 0`)
  if (space.type !== 'dict') return
  if (space.choice !== undefined) fail(`${path}: an observation has no choice between its entries`)
  for (let i = 0; i < space.entries.length; i += 1) {
    checkObservation(space.entries[i].space, `${path}.${space.entries[i].name}`)
  }
}

function requireObject(definition: unknown): Record<string, unknown> {
  if (isObject(definition)) return definition
  return fail(
    `the scenario must be the object that defineScenario returns, as the default export; got ${describeValue(definition)}`,
  )
}

/**
 * Reads the callbacks, each once. They are called as methods of an object that inherits from the definition: `this`
 * works in them, and V8 inlines them, where bound functions would cost a tenth of the step rate. The author sees that
 * object as `this`, so the callbacks on it are fixed. Throws a TypeError that names the one that is missing.
 */
export function readCallbacks(value: unknown): ScenarioCallbacks {
  const definition = requireObject(value)
  const callbacks = objectCreate(definition)
  defineConstant(callbacks, 'reset', requireFunction(definition.reset, 'reset({ rng, task })'))
  defineConstant(callbacks, 'step', requireFunction(definition.step, 'step(state, action, { rng })'))
  defineConstant(callbacks, 'observe', requireFunction(definition.observe, 'observe(state)'))
  defineConstant(callbacks, 'actionMask', optionalFunction(definition.actionMask, 'actionMask(state)'))
  defineConstant(callbacks, 'metrics', optionalFunction(definition.metrics, 'metrics(state)'))
  defineConstant(callbacks, 'oracle', optionalFunction(definition.oracle, 'oracle(state, { rng })'))
  defineConstant(callbacks, 'rules', optionalFunction(definition.rules, 'rules(observation, { mask, rng })'))
  defineConstant(callbacks, 'render', optionalFunction(definition.render, 'render(state)'))
  return callbacks
}

/**
 * Reads a definition of unknown origin: it may be any object, proxies and getters included. Every property is read
 * once and copied. Throws a TypeError whose message names the field, what is wrong and how to fix it.
 */
export function readDefinition(value: unknown): ScenarioDescription {
  const definition = requireObject(value)
  const observation = readSpace(definition.observation, 'observation')
  const action = readSpace(definition.action, 'action')
  checkObservation(observation, 'observation')
  checkAction(action, 'action', observation)
  const columns = columnsOf(action)
  if (columns > MAX_ACTION_COLUMNS) fail(`action: has ${columns} components; at most ${MAX_ACTION_COLUMNS}`)
  const logits = logitsOf(action)
  if (logits > MAX_LOGITS) fail(`action: has ${logits} choices in all; at most ${MAX_LOGITS}`)
  const maxSteps = requireCount(definition.maxSteps, 'maxSteps (the time limit of an episode)', 1, MAX_STEPS)
  const tasks = readTasks(definition.tasks)
  const callbacks = readCallbacks(definition)
  const masked = callbacks.actionMask !== null
  const oracle = callbacks.oracle === null ? {} : { oracle: true as const }
  const rules = callbacks.rules === null ? {} : { rules: true as const }
  if (masked && logits === 0) fail('actionMask: a box action has nothing to mask; leave actionMask out')
  const sizes = {
    observation: columnsOf(observation),
    action: columns,
    mask: masked ? logits : 0,
    text: textColumnsOf(observation),
  }
  const renders = callbacks.render === null ? {} : { renders: true as const }
  const tools = readToolDescriptions(definition.toolDescriptions, action)
  const optional = {
    ...readLevels(definition.levels),
    ...readMemory(definition.memory),
    ...oracle,
    ...rules,
    ...renders,
    ...tools,
  }
  return { observation, action, maxSteps, tasks, masked, ...optional, sizes }
}

/** The fault for what was thrown while a definition was read: by the check, or by a getter of the author's. */
export function definitionFault(thrown: unknown): EngineFault {
  const { message, stack } = describeThrown(thrown)
  return new EngineFault(
    'scenario_invalid',
    message,
    '',
    { phase: 'define', environment: 0, step: 0, episode: 0 },
    stack,
  )
}

/**
 * Checks the default export of a scenario's bundle and describes it. Throws an EngineFault `scenario_invalid` whose
 * message names the field, what is wrong and how to fix it.
 */
export function describeScenario(definition: unknown): ScenarioDescription {
  try {
    return readDefinition(definition)
  } catch (thrown) {
    throw definitionFault(thrown)
  }
}
