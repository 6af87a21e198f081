import { parseSync } from 'vite'

export const longestFile = 500
export const longestFunction = 80

/** What may be longer, and why: `file`, or `file › function`. */
export const longOnPurpose: Record<string, string> = {
  'sdk/contract/src/error-catalog.ts': 'one table, with a row for each code',
  'infra/e2e/site-journey.test.ts › journey': 'one walk through the site, registered once for each kind of browser',
}

/** What is longer than it should be: lines by name, `file` or `file › function`. */
export type Lengths = Record<string, number>

/** Is the file too long, or a function in it? TypeScript is parsed; a C++ function begins and ends in column 0. */
export function excessiveLengths(path: string, source: string): Lengths {
  const lines = source.replace(/\n$/, '').split('\n')
  const found: Lengths = {}
  if (lines.length > longestFile) found[path] = lines.length
  const functions = /\.tsx?$/.test(path) ? typescriptFunctions(path, source) : cppFunctions(lines)
  for (const { name, length } of functions) {
    if (length > longestFunction) found[`${path} › ${name}`] = length
  }
  return found
}

type FunctionLength = { name: string; length: number }
type SyntaxNode = { type: string; start: number; end: number } & Record<string, unknown>

function typescriptFunctions(path: string, source: string): FunctionLength[] {
  const { program, errors } = parseSync(path, source)
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0].message}`)
  const found: FunctionLength[] = []
  const visit = (node: SyntaxNode, outerName: string, counts: boolean) => {
    const name = nameOf(node) ?? outerName
    if (isFunction(node) && counts) found.push({ name, length: source.slice(node.start, node.end).split('\n').length })
    // A describe block is a chapter of tests, not a function that a reader has to hold in mind.
    const chapter = isDescribe(node)
    for (const child of children(node)) visit(child, name, !(chapter && isFunction(child)))
  }
  visit(program as unknown as SyntaxNode, 'top level', true)
  return found
}

function isFunction(node: SyntaxNode): boolean {
  return ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'].includes(node.type)
}

/** `describe(…)`, `describe.each(…)(…)`, `describeOnEngines(…)` and the like. */
function isDescribe(node: SyntaxNode): boolean {
  if (node.type !== 'CallExpression') return false
  let callee = node.callee as SyntaxNode
  while (callee.type !== 'Identifier') {
    const inner = callee.object ?? callee.callee ?? callee.tag
    if (!isNode(inner)) return false
    callee = inner
  }
  return /^describe/.test(String(callee.name))
}

/** The name that a declaration, a property or a method gives to what is inside it. */
function nameOf(node: SyntaxNode): string | undefined {
  const name = node.id ?? node.key
  return isNode(name) && typeof name.name === 'string' ? name.name : undefined
}

function children(node: SyntaxNode): SyntaxNode[] {
  return Object.values(node).flat().filter(isNode)
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

function cppFunctions(lines: string[]): FunctionLength[] {
  const found: FunctionLength[] = []
  let start = -1
  for (const [index, line] of lines.entries()) {
    if (/^[A-Za-z_].*\(/.test(line) && !line.endsWith(';')) start = index
    if (line.startsWith('}') && start >= 0) {
      const name = /([\w~:]+)\s*\(/.exec(lines[start])?.[1] ?? 'function'
      found.push({ name, length: index - start + 1 })
      start = -1
    }
  }
  return found
}
