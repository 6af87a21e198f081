import type { AgentManifest, SpaceDescription } from '@agentgym/contract'

/** A type that both languages have. */
type Shape =
  | { kind: 'number' | 'numbers' | 'nested' | 'integer' | 'integers' | 'text' | 'items' }
  | { kind: 'flags' | 'flagLists' | 'nothing' }
  | { kind: 'words'; words: readonly string[] }
  | { kind: 'object'; fields: Field[] }

type Field = { name: string; optional: boolean; about: string; shape: Shape }

/** TypeScript with the types of an agent's observations and actions, and `Types` of all of them for `loadAgent<Types>`. */
export function writeTypeScript({ scenario }: Pick<AgentManifest, 'scenario'>): string {
  const { observation, action } = scenario
  const choice = choicesOf(action).map(
    ({ words, parameters }) => `{ label: ${inTypeScript(words)}; arguments: ${inTypeScript(parameters)} }`,
  )
  return `// Types of agents for ${printable(scenario.name)}@${printable(scenario.version)}. Written by \`agentgym agent types\`.

/** ${describe(observation)} */
export type Observation = ${inTypeScript(observedShape(observation))}

/** What is legal, as the scenario says it. */
export type Mask = ${inTypeScript(maskShape(action))}

/** ${describe(action)} */
export type Action = ${inTypeScript(actionShape(action))}

/** The word for an action and, of a tool with parameters, its arguments. */
export type Choice =
  | ${choice.join('\n  | ')}

export type Types = { observation: Observation; mask: Mask; action: Action; choice: Choice }
`
}

/** The same in Python: `Observation`, `Action` and `Label`. */
export function writePython({ scenario }: Pick<AgentManifest, 'scenario'>): string {
  const { observation, action } = scenario
  const classes: string[] = []
  const words = choicesOf(action).flatMap(({ words: shape }) => (shape.kind === 'words' ? shape.words : []))
  const aliases = [
    ['Observation', inPython(observedShape(observation), 'Observation', classes)],
    ['Action', inPython(actionShape(action), 'Action', classes)],
    ['Label', inPython(words.length === 0 ? { kind: 'nothing' } : { kind: 'words', words }, 'Label', classes)],
  ]
  const own = aliases.flatMap(([name, type]) => (name === type ? [] : [`${name} = ${type}\n`])).join('')
  const body = `${classes.join('\n\n')}\n${own}`
  const item = body.includes('list[Item]') ? 'Item = TypedDict("Item", {"id": str, "features": list[float]})\n\n\n' : ''
  const names = ['Any', 'Literal', 'TypedDict'].filter((name) => new RegExp(`\\b${name}\\b[\\[\\](]`).test(body + item))
  return `"""Types of agents for ${printable(scenario.name)}@${printable(scenario.version)}. Written by agentgym agent types."""

${names.length === 0 ? '' : `from typing import ${names.join(', ')}\n\n`}${item}${body}`
}

function observedShape(space: SpaceDescription): Shape {
  switch (space.type) {
    case 'box':
      return { kind: space.shape.length > 1 ? 'nested' : 'numbers' }
    case 'discrete':
      return { kind: 'integer' }
    case 'multiDiscrete':
      return { kind: 'integers' }
    case 'text':
      return { kind: 'text' }
    case 'list':
      return { kind: 'items' }
    case 'dict':
      return objectOf(space.entries, observedShape)
  }
}

function maskShape(space: SpaceDescription): Shape {
  if (space.type === 'discrete') return { kind: 'flags' }
  if (space.type === 'multiDiscrete') return { kind: 'flagLists' }
  const entries = space.type === 'dict' ? space.entries.filter(({ space: inner }) => hasChoices(inner)) : []
  return entries.length === 0 ? { kind: 'nothing' } : objectOf(entries, maskShape)
}

function hasChoices(space: SpaceDescription): boolean {
  if (space.type === 'dict') return space.entries.some(({ space: inner }) => hasChoices(inner))
  return space.type === 'discrete' || space.type === 'multiDiscrete'
}

/** The tool is a number, as `step` gets it; only the tool that it names is there. */
function actionShape(action: SpaceDescription): Shape {
  if (action.type !== 'dict' || action.choice === undefined) return plainShape(action)
  const { choice, entries } = action
  const shape = objectOf(
    entries,
    (inner) => argumentShape(inner),
    (name) => name !== choice,
  )
  const tool = shape.fields.find(({ name }) => name === choice)
  if (tool !== undefined) tool.shape = { kind: 'integer' }
  return shape
}

function plainShape(space: SpaceDescription): Shape {
  if (space.type === 'box') return { kind: space.shape.length === 0 ? 'number' : 'numbers' }
  return space.type === 'dict' ? objectOf(space.entries, plainShape) : observedShape(space)
}

/** Of a tool: choices are words, and pointers the ids of items. */
function argumentShape(space: SpaceDescription): Shape {
  if (space.type === 'dict') return objectOf(space.entries, argumentShape)
  if (space.type !== 'discrete') return plainShape(space)
  if (space.list !== undefined) return { kind: 'text' }
  return space.labels === undefined ? { kind: 'integer' } : { kind: 'words', words: space.labels }
}

function objectOf(
  entries: readonly { name: string; space: SpaceDescription }[],
  shapeOf: (space: SpaceDescription) => Shape,
  optional: (name: string) => boolean = () => false,
): Extract<Shape, { kind: 'object' }> {
  const field = ({ name, space }: { name: string; space: SpaceDescription }): Field => ({
    ...{ name, optional: optional(name), about: describe(space), shape: shapeOf(space) },
  })
  return { kind: 'object', fields: entries.map(field) }
}

/** What a decision may say: one entry for a discrete action, one for each tool with its parameters. */
function choicesOf(action: SpaceDescription): { words: Shape; parameters: Shape }[] {
  const nothing = { kind: 'nothing' } as const
  if (action.type === 'discrete' && action.labels !== undefined) {
    return [{ words: { kind: 'words', words: action.labels }, parameters: nothing }]
  }
  if (action.type !== 'dict' || action.choice === undefined) return [{ words: nothing, parameters: nothing }]
  const spaces = new Map(action.entries.map(({ name, space }) => [name, space]))
  const chooser = spaces.get(action.choice)
  const tools = chooser?.type === 'discrete' ? (chooser.labels ?? []) : []
  return tools.map((tool) => {
    const parameters = spaces.get(tool)
    const shape: Shape = parameters === undefined ? { kind: 'object', fields: [] } : argumentShape(parameters)
    return { words: { kind: 'words', words: [tool] }, parameters: shape }
  })
}

const typeScript = {
  number: 'number',
  numbers: 'number[]',
  nested: 'number[] | number[][] | number[][][]',
  integer: 'number',
  integers: 'number[]',
  text: 'string',
  items: '{ id: string; features: number[] }[]',
  flags: 'boolean[]',
  flagLists: 'boolean[][]',
  nothing: 'null',
}

function inTypeScript(shape: Shape, indent = ''): string {
  if (shape.kind === 'words') return shape.words.map((word) => JSON.stringify(word)).join(' | ')
  if (shape.kind !== 'object') return typeScript[shape.kind]
  if (shape.fields.length === 0) return 'Record<string, never>'
  const inner = `${indent}  `
  const lines = shape.fields.flatMap(({ name, optional, about, shape: of }) => [
    `${inner}/** ${about} */`,
    `${inner}${/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)}${optional ? '?' : ''}: ${inTypeScript(of, inner)}`,
  ])
  return `{\n${lines.join('\n')}\n${indent}}`
}

const python = {
  number: 'float',
  numbers: 'list[float]',
  nested: 'list[Any]',
  integer: 'int',
  integers: 'list[int]',
  text: 'str',
  items: 'list[Item]',
  flags: 'list[bool]',
  flagLists: 'list[list[bool]]',
  nothing: 'None',
}

/** Objects become classes, in the functional form: their keys may be no names. */
function inPython(shape: Shape, name: string, classes: string[]): string {
  if (shape.kind === 'words') return `Literal[${shape.words.map((word) => JSON.stringify(word)).join(', ')}]`
  if (shape.kind !== 'object') return python[shape.kind]
  const lines = shape.fields.map(({ name: key, about, shape: of }) => {
    const part = name + key.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9]?)/g, (_, letter: string) => letter.toUpperCase())
    return `    ${JSON.stringify(key)}: ${inPython(of, part, classes)},  # ${about}`
  })
  const partial = shape.fields.some(({ optional }) => optional) ? ', total=False' : ''
  classes.push(`${name} = TypedDict(${JSON.stringify(name)}, {\n${lines.join('\n')}\n}${partial})\n`)
  return name
}

/** A space in words, with its bounds where they are the same for all numbers. */
function describe(space: SpaceDescription): string {
  switch (space.type) {
    case 'box': {
      const size = space.shape.length === 0 ? 'A number' : `Numbers [${space.shape.join(', ')}]`
      const [low, high] = [theOnly(space.low), theOnly(space.high)]
      if (low !== undefined && high !== undefined) return `${size}, ${low} to ${high}.`
      if (low !== undefined) return `${size}, at least ${low}.`
      return high === undefined ? `${size}.` : `${size}, at most ${high}.`
    }
    case 'discrete': {
      if (space.list !== undefined) return `The id of an item of ${printable(space.list)}.`
      const words = space.labels?.map((label, i) => `${i + space.start} ${printable(label)}`) ?? []
      const shown = words.length > 16 ? [...words.slice(0, 16), '…'] : words
      return shown.length > 0 ? `${shown.join(', ')}.` : `${space.start} to ${space.start + space.n - 1}.`
    }
    case 'multiDiscrete':
      return `${space.nvec.length} numbers, each below its own of ${space.nvec.join(', ')}.`
    case 'text':
      return `Text, read up to ${space.maxTokens} tokens.`
    case 'list':
      return `Up to ${space.slots} items of ${space.features} numbers.`
    case 'dict':
      return space.choice === undefined ? 'By name.' : 'The number of the tool and, under its name, its arguments.'
  }
}

/** The one bound of all numbers; undefined where there are several or none. */
function theOnly(bounds: readonly (number | null)[]): number | undefined {
  return bounds.every((bound) => bound === bounds[0]) ? (bounds[0] ?? undefined) : undefined
}

/** A scenario's own words end no comment and begin no line. */
function printable(text: string): string {
  return text
    .replaceAll('*/', '* /')
    .replaceAll('"""', "'''")
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029\\]/gu, ' ')
}
