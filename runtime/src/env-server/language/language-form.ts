import type { ScenarioPackage, SpaceDescription } from '@agentgym/contract'
import type { ScenarioDescription } from '../../sandbox/vector-environment.ts'
import { observationText } from './observation-text.ts'
import { actionRow, choiceWords, invalid, type Seen } from './read-action.ts'
import { readReply } from './read-reply.ts'
import type { Sample } from './read-sample.ts'
import { actionSchema, type JsonSchema, objectSchema } from './space-schema.ts'

/** How a client says what it does: by calling tools, by one word of a few, or by values of a space. */
export type ActionForm = 'tools' | 'words' | 'values'

export type LanguageTool = {
  /** Letters, digits, `_` and `-`, at most 64; no name that OpenEnv reserves. */
  name: string
  description: string
  inputSchema: JsonSchema
}

/** A tool with what its call means as an action of the space. */
type CallableTool = LanguageTool & { action(given: Record<string, unknown>): unknown }

/** Names that OpenEnv keeps for itself. */
const reservedNames = ['reset', 'step', 'state', 'close']

/** A scenario as clients see it who read and write words and JSON instead of rows of numbers. */
export class LanguageForm {
  readonly form: ActionForm
  /** Those of a tool scenario; of any other one tool, `act`. */
  readonly tools: readonly LanguageTool[]
  /** What the scenario is about and how to act in it, for a system prompt. */
  readonly task: string
  readonly #callable: readonly CallableTool[]
  readonly #observation: SpaceDescription
  readonly #action: SpaceDescription
  readonly #view: ScenarioPackage['agentgym']['view']

  constructor({ observation, action, tools }: ScenarioDescription, { agentgym }: ScenarioPackage) {
    this.#observation = observation
    this.#action = action
    this.#view = agentgym.view
    this.form = tools !== undefined ? 'tools' : action.type === 'discrete' ? 'words' : 'values'
    this.#callable = tools === undefined ? [actTool(action)] : tools.map((tool) => scenarioTool(tool, action))
    this.tools = this.#callable.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
    this.task = taskText(agentgym, this.form, this.tools)
  }

  /** The schema of `action` in `{"action": …}`; words and numbers of one choice are both understood. */
  actionSchema(): JsonSchema {
    return actionSchema(this.#action)
  }

  text(observation: Sample): string {
    return observationText(this.#observation, observation, this.#view)
  }

  /**
   * What may be done now, in words: labels of the choices, or calls with the arguments that each may have. Null where the action is
   * made of numbers.
   */
  legalActions(seen: Seen): string[] | null {
    if (this.form === 'values') return null
    if (this.#action.type === 'discrete') return legalWords(this.#action, seen, 0)
    return legalCalls(this.#action, seen)
  }

  /** The row of an action that is JSON. Throws `action_invalid`. */
  row(action: unknown, seen: Seen): number[] {
    return actionRow(this.#action, action, seen)
  }

  /** What clients call a tool of the scenario. */
  toolNamed(name: string): string {
    return shownName(name)
  }

  /** The row of a tool's call. Throws `action_invalid`. */
  callRow(name: string, given: Record<string, unknown>, seen: Seen): number[] {
    const tool = this.#callable.find((each) => each.name === name)
    if (tool === undefined) {
      const names = this.#callable.map((each) => each.name)
      throw invalid('tool_name', `is ${JSON.stringify(name.slice(0, 80))}, which is no tool.`, names)
    }
    return this.row(tool.action(given), seen)
  }

  /** The tool that an action of the space calls, with its arguments; null for a scenario without tools. */
  callOf(action: unknown): { name: string; arguments: Record<string, unknown> } | null {
    const space = this.#action
    if (this.form !== 'tools') return null
    if (space.type !== 'dict') return { name: this.tools[indexOfChoice(space, action)].name, arguments: {} }
    const parts = action as Record<string, unknown>
    const chooser = space.entries.find(({ name }) => name === space.choice)?.space
    const index = chooser === undefined ? 0 : indexOfChoice(chooser, parts[space.choice ?? ''])
    const label = chooser?.type === 'discrete' ? (chooser.labels?.[index] ?? '') : ''
    return { name: this.tools[index].name, arguments: (parts[label] as Record<string, unknown>) ?? {} }
  }

  /** The row of what a language model wrote: a word, JSON, or a call, behind `Action:` or alone. Throws `action_invalid`. */
  replyRow(text: string, seen: Seen): number[] {
    const reply = readReply(text, this.form === 'tools' ? this.#callable : null, this.legalActions(seen))
    return reply.kind === 'call' ? this.callRow(reply.name, reply.given, seen) : this.row(reply.action, seen)
  }
}

function indexOfChoice(space: SpaceDescription, choice: unknown): number {
  if (space.type !== 'discrete') return 0
  return typeof choice === 'number' ? choice - space.start : (space.labels ?? []).indexOf(String(choice))
}

function actTool(action: SpaceDescription): CallableTool {
  return {
    name: 'act',
    description: 'Take one step in the environment.',
    inputSchema: objectSchema([['action', actionSchema(action)]]),
    action: (given) => given.action,
  }
}

function shownName(name: string): string {
  return reservedNames.includes(name) ? `${name}_` : name
}

/** A tool of a tool scenario: its parameters are the entry of the action that has its name. */
function scenarioTool(
  { name, description }: { name: string; description: string },
  action: SpaceDescription,
): CallableTool {
  const shown = shownName(name)
  if (action.type !== 'dict') {
    return { name: shown, description, inputSchema: objectSchema([]), action: (given) => onlyEmpty(given, name) }
  }
  const parameters = action.entries.find((entry) => entry.name === name && name !== action.choice)?.space
  const choice = action.choice ?? 'tool'
  return {
    name: shown,
    description,
    inputSchema: parameters === undefined ? objectSchema([]) : actionSchema(parameters),
    action: (given) =>
      parameters === undefined ? { [choice]: onlyEmpty(given, name) } : { [choice]: name, [name]: given },
  }
}

function onlyEmpty(given: Record<string, unknown>, name: string): string {
  const [extra] = Object.keys(given)
  if (extra !== undefined) throw invalid('arguments', `has ${JSON.stringify(extra)}, and ${name} takes none`)
  return name
}

type Discrete = Extract<SpaceDescription, { type: 'discrete' }>

function legalWords(space: Discrete, { observation, legal }: Seen, component: number): string[] {
  return choiceWords(space, observation).filter((_, i) => legal?.[component]?.[i] ?? true)
}

/** `refund(order: A-1 | A-2, percent: 0 to 100)` for each tool that can be called. */
function legalCalls(action: SpaceDescription, seen: Seen): string[] {
  if (action.type !== 'dict') return []
  let component = 0
  const calls = new Map<string, string>()
  let callable: string[] = []
  for (const { name, space } of action.entries) {
    if (name === action.choice && space.type === 'discrete') callable = legalWords(space, seen, component++)
    else {
      const { text, components } = parametersText(space, seen, component)
      component += components
      calls.set(name, `${name}(${text})`)
    }
  }
  return callable.map((name) => calls.get(name) ?? name)
}

function parametersText(space: SpaceDescription, seen: Seen, first: number): { text: string; components: number } {
  let component = first
  const parts = (space.type === 'dict' ? space.entries : []).map(({ name, space: inner }) => {
    if (inner.type === 'discrete') return `${name}: ${legalWords(inner, seen, component++).join(' | ')}`
    if (inner.type === 'box' && inner.low.length === 1) return `${name}: ${inner.low[0]} to ${inner.high[0]}`
    if (inner.type === 'multiDiscrete') component += inner.nvec.length
    return `${name}: see the tool's schema`
  })
  return { text: parts.join(', '), components: component - first }
}

function taskText(
  { title, summary }: ScenarioPackage['agentgym'],
  form: ActionForm,
  tools: readonly LanguageTool[],
): string {
  const about = `${title}. ${summary}`
  if (form === 'tools') {
    const lines = tools.map(({ name, description }) => `- ${name}: ${description}`)
    return `${about}\nCall one tool a turn:\n${lines.join('\n')}`
  }
  if (form === 'words') return `${about}\nAnswer each observation with one of its legal actions, as one word.`
  return `${about}\nAnswer each observation with an action as JSON: ${JSON.stringify(tools[0].inputSchema)}`
}
