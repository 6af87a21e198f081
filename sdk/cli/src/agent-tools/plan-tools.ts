import { identifier, plainLine } from './identifiers.ts'
import { type FieldNote, mapSchema, type PlannedParameter, singular, wordsOf } from './schema-parameters.ts'
import type { ToolDeclaration } from './tool-forms.ts'

/** A tool of the scenario to write. */
export type PlannedTool = {
  /** Its name in the scenario, and in the agent that serves it. */
  name: string
  /** Its name in what was read. */
  declared: string
  description: string
  parameters: PlannedParameter[]
  written: FieldNote[]
  changed: FieldNote[]
  /** Whether it changes nothing: a wrong call of it does not end the episode. */
  readOnly: boolean
  /** Lists that a call shows. */
  shows: string[]
}

/** Records whose ids are copied from the observation. */
export type PlannedList = {
  name: string
  entity: string
  /** Whether the agent sees it from the start, since no tool shows it. */
  shownAtStart: boolean
}

export type ToolPlan = {
  tools: PlannedTool[]
  lists: PlannedList[]
  /** Calls until the longest request is done. */
  longestRequest: number
}

const readingVerbs = new Set(
  'browse check count describe detect fetch find get inspect list lookup look preview query read retrieve search show view'.split(
    ' ',
  ),
)
const MAX_DESCRIPTION = 300
/** The engine's most items of a dict; far fewer lists are useful. */
const MAX_LISTS = 16

/** What scenario the tools make: names, parameters, which tool shows which list, and what that takes. */
export function planTools(declarations: readonly ToolDeclaration[]): ToolPlan {
  const taken = new Set<string>()
  const tools = declarations.map((declaration) => planTool(declaration, taken))
  const entities = [...new Set(tools.flatMap(({ parameters }) => parameters.flatMap(entitiesOf)))]
  const kept = new Set(entities.slice(0, MAX_LISTS))
  for (const tool of tools) leaveLists(tool, kept)
  // Other parts of the observation.
  const names = new Set(['request', 'called', 'numbers'])
  const lists = entities.slice(0, MAX_LISTS).map((entity) => {
    const name = identifier(plural(entity), 'records', names).replaceAll('-', '_')
    names.add(name)
    return { name, entity, shownAtStart: false }
  })
  for (const tool of tools) tool.shows = lists.filter(({ entity }) => showsList(tool, entity)).map(({ name }) => name)
  const longestRequest = showUnreachable(tools, lists) + 1
  return { tools, lists, longestRequest }
}

function planTool({ name: declared, description, schema, readOnly }: ToolDeclaration, taken: Set<string>): PlannedTool {
  const name = identifier(declared, 'call', taken)
  taken.add(name)
  const words = wordsOf(declared)
  const { parameters, written, changed } = mapSchema(schema, declared)
  return {
    name,
    declared,
    description: plainLine(description, MAX_DESCRIPTION) || sentence(words, name),
    parameters,
    written,
    changed,
    readOnly: readOnly ?? readingVerbs.has(words[0]),
    shows: [],
  }
}

function sentence(words: readonly string[], name: string): string {
  const text = plainLine(words.join(' '), MAX_DESCRIPTION) || name
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function entitiesOf(parameter: PlannedParameter): string[] {
  return parameter.kind === 'pointer' ? [parameter.entity] : []
}

function leaveLists(tool: PlannedTool, kept: ReadonlySet<string>): void {
  for (const { field, ...parameter } of tool.parameters) {
    if (parameter.kind === 'pointer' && !kept.has(parameter.entity))
      tool.written.push({ field, why: `ids of more than ${MAX_LISTS} kinds` })
  }
  tool.parameters = tool.parameters.filter((parameter) => parameter.kind !== 'pointer' || kept.has(parameter.entity))
}

/** A tool that only reads, names the records and needs none of them itself: `search_orders` shows the orders. */
function showsList({ declared, parameters, readOnly }: PlannedTool, entity: string): boolean {
  if (!readOnly || parameters.some((parameter) => entitiesOf(parameter).includes(entity))) return false
  const words = wordsOf(declared).map(singular)
  return wordsOf(entity).every((word) => words.includes(singular(word)))
}

/** Shows from the start what no chain of tools reaches. The number of calls that the longest chain takes. */
function showUnreachable(tools: readonly PlannedTool[], lists: PlannedList[]): number {
  for (const list of lists) list.shownAtStart = !tools.some(({ shows }) => shows.includes(list.name))
  for (;;) {
    const depth = depths(tools, lists)
    const lost = lists.find(({ name }) => !depth.has(name))
    if (lost === undefined) {
      // A request may need several lists, one lookup each.
      const most = Math.max(0, ...tools.map((tool) => needsOf(tool, lists).length))
      return Math.min(8, Math.max(0, ...depth.values()) * Math.max(1, most))
    }
    lost.shownAtStart = true
  }
}

/** Calls until each list is shown; absent for one that no chain reaches. */
function depths(tools: readonly PlannedTool[], lists: readonly PlannedList[]): Map<string, number> {
  const depth = new Map(lists.filter(({ shownAtStart }) => shownAtStart).map(({ name }) => [name, 0]))
  for (let grown = true; grown; ) {
    grown = false
    for (const tool of tools) {
      const needs = needsOf(tool, lists)
      if (!needs.every((name) => depth.has(name))) continue
      const calls = 1 + Math.max(0, ...needs.map((name) => depth.get(name) ?? 0))
      for (const name of tool.shows) {
        if (depth.has(name)) continue
        depth.set(name, calls)
        grown = true
      }
    }
  }
  return depth
}

/** Names of the lists that a tool's ids are copied from. */
export function needsOf(tool: PlannedTool, lists: readonly PlannedList[]): string[] {
  const entities = tool.parameters.flatMap(entitiesOf)
  return lists.filter(({ entity }) => entities.includes(entity)).map(({ name }) => name)
}

function plural(word: string): string {
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`
  return /(s|x|ch|sh)$/.test(word) ? `${word}es` : `${word}s`
}
