import { key, plainLine, wordList } from './identifiers.ts'
import type { PlannedTool } from './plan-tools.ts'
import { type PlannedParameter, wordsOf } from './schema-parameters.ts'

/** `src/requests.ts`: what users ask for, as a list of wordings for each tool, and the generator. */
export function requestsFile(tools: readonly PlannedTool[]): string {
  const lines = tools.map(
    (tool) => `  ${key(tool.name)}: ${wordList(wordingsOf(tool), '  ', key(tool.name).length + 5)},`,
  )
  return `/** What users ask for, and the call that does it. */
import { fillIn, type ParameterRecord, type Rng } from '@agentgym/scenario'
import type { Records } from './records.ts'
import { type ListName, parameters, type ToolName } from './tools.ts'

/** REPLACE: how your users ask for each tool. \`{name}\` stands for an argument: a word, a number or the name of a record. */
const wordings: { readonly [Name in ToolName]: readonly string[] } = {
${lines.join('\n')}
}
const openings = ['', 'Hi, ', 'Hello, ', 'Good morning. ']
const endings = ['', ' Thanks!', ' It is urgent.', ' No hurry.']

export type Request = {
  text: string
  tool: ToolName
  /** As the tool's \`run\` gets them: words, numbers, ids. */
  arguments: Record<string, string | number>
}

const tools = Object.keys(wordings) as ToolName[]

/** A request for one of the tools. */
export function writeRequest(records: Records, rng: Rng): Request {
  const tool = rng.pick(tools)
  const args: Request['arguments'] = {}
  const words: Record<string, string> = {}
  for (const [name, parameter] of Object.entries<ParameterRecord[string]>(parameters[tool])) {
    const { value, word } = drawArgument(parameter, records, rng)
    args[name] = value
    words[name.replaceAll('-', '_')] = word
  }
  const text = \`\${rng.pick(openings)}\${fillIn(rng.pick(wordings[tool]), words, rng)}.\${rng.pick(endings)}\`
  return { text, tool, arguments: args }
}

/** An argument, and how the request says it. */
type Drawn = { value: string | number; word: string }

function drawArgument(parameter: ParameterRecord[string], records: Records, rng: Rng): Drawn {
  if (parameter.type === 'choice') {
    const value = rng.pick(parameter.values)
    return { value, word: value }
  }
  if (parameter.type === 'pointer') {
    const { id, name } = rng.pick(records[parameter.list as ListName])
    return { value: id, word: name }
  }
  if (parameter.type !== 'number') throw new Error(\`an argument of the type \${parameter.type} has no wording\`)
  const { low, high, integer } = parameter
  const value = integer ? low + rng.int(high - low + 1) : low + rng() * (high - low)
  return { value, word: integer ? String(value) : value.toPrecision(3) }
}

type NumberColumn = { tool: ToolName; name: string; low: number; high: number }

/** The numbers that requests can name, one for each parameter that is a number. */
export const numberColumns: readonly NumberColumn[] = tools.flatMap((tool) =>
  Object.entries<ParameterRecord[string]>(parameters[tool]).flatMap(([name, parameter]) =>
    parameter.type === 'number' ? [{ tool, name, low: parameter.low, high: parameter.high }] : [],
  ),
)

/** The numbers that a request names, from 0 to 1 within their ranges; -1 where it names none. */
export function namedNumbers(request: Request): number[] {
  return numberColumns.map(({ tool, name, low, high }) =>
    tool === request.tool ? (Number(request.arguments[name]) - low) / (high - low) : -1,
  )
}
`
}

/** Wordings to begin with, from the tool's name and description. */
function wordingsOf({ name, description, declared, parameters }: PlannedTool): string[] {
  const words = plainWording(wordsOf(declared).join(' ')) || name
  const about = plainWording(description.split(/(?<=[.!?])\s/)[0]).replace(/[.!?]+$/, '')
  const tail = parameters.length === 0 ? '' : `: ${parameters.map(argumentWording).join(', ')}`
  const wordings = [`Please ${words}${tail}`, `I need you to ${words}${tail}`, `${about}${tail}`]
  return [...new Set(wordings)]
}

function argumentWording({ name, kind }: PlannedParameter): string {
  const slot = `{${name.replaceAll('-', '_')}}`
  return kind === 'pointer' ? slot : `${plainWording(wordsOf(name).join(' '))} ${slot}`
}

/** A line without slots. */
function plainWording(text: string): string {
  return plainLine(text.replace(/[{}]/g, ' '), 120)
}
