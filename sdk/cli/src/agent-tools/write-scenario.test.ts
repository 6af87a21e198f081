import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { scenarioPackageSchema } from '@agentgym/contract'
import fc from 'fast-check'
import { parseSync } from 'vite'
import { expect, it } from 'vitest'
import { planTools } from './plan-tools.ts'
import { readToolForms, type ToolDeclaration } from './tool-forms.ts'
import { scenarioFiles } from './write-scenario.ts'

const names = { name: 'desk', title: 'Desk', unscoped: 'desk' }
const template = join(import.meta.dirname, '../../templates/from-tools')
const sample = join(import.meta.dirname, '../../testdata/tools/openai.json')

it('writes the sources that the template shows, which are type-checked and formatted', () => {
  const files = scenarioFiles(planTools(readToolForms(JSON.parse(readFileSync(sample, 'utf8')), 'sample')), names)
  for (const file of ['src/index.ts', 'src/tools.ts', 'src/back-end.ts', 'src/requests.ts'])
    expect(files[file], file).toBe(readFileSync(join(template, file), 'utf8'))
})

const tool = (name: string, properties: object, readOnly: boolean | null = null): ToolDeclaration => ({
  ...{ name, description: '', readOnly },
  schema: { type: 'object', properties },
})
const id = { type: 'string' }

it('lists are shown by the lookups that need none of their ids, in chains', () => {
  const { lists, tools, longestRequest } = planTools([
    tool('find_customers', {}),
    tool('list_orders', { customer_id: id }),
    tool('cancel_order', { order_id: id, reason: { enum: ['a'] } }),
  ])
  expect(lists).toEqual([
    { name: 'customers', entity: 'customer', shownAtStart: false },
    { name: 'orders', entity: 'order', shownAtStart: false },
  ])
  expect(tools.map(({ shows, readOnly }) => [shows, readOnly])).toEqual([
    [['customers'], true],
    [['orders'], true],
    [[], false],
  ])
  expect(longestRequest).toBe(3)
})

it('what no chain of lookups reaches is shown from the start', () => {
  const { lists } = planTools([
    tool('list_orders', { customer_id: id }),
    tool('list_customers', { order_id: id }),
    tool('call', { number_id: id }),
  ])
  expect(lists.map(({ name, shownAtStart }) => [name, shownAtStart])).toEqual([
    ['customers', true],
    ['orders', false],
    ['numbers_2', true],
  ])
})

const payloads = [
  "'); globalThis.pwned(); ('",
  `\`\${pwned()}\``,
  '*/ pwned() /*',
  '\n pwned()\n//',
  '\u2028pwned()\u2029',
  '"+pwned()+"',
  "\\'+pwned()+\\'",
  '{pwned}',
  '__proto__',
  'constructor',
  '\u202epwned()\u202c',
  ']]>--><script>pwned()</script>',
  '\ud800pwned',
]
const hostile = fc.oneof(
  fc.constantFrom(...payloads),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.tuple(fc.string({ maxLength: 4 }), fc.constantFrom(...payloads)).map((parts) => parts.join('')),
)
const property = fc.oneof(
  fc.record({ enum: fc.array(hostile, { minLength: 1, maxLength: 4 }) }),
  fc.record({ type: fc.constant('string'), format: hostile }),
  fc.record({ type: fc.constant('integer'), minimum: fc.integer(), maximum: fc.integer() }),
  fc.record({ $ref: hostile }),
  fc.record({ const: hostile }),
  fc.constant(id),
)
const declaration = fc.record({
  name: hostile.filter((name) => name !== ''),
  description: hostile,
  schema: fc.record({
    type: fc.constant('object'),
    properties: fc.dictionary(
      fc.oneof(
        hostile,
        hostile.map((name) => `${name}_id`),
      ),
      property,
      { maxKeys: 4 },
    ),
  }),
  readOnly: fc.constantFrom(true, false, null),
})

it('names, descriptions and enums from outside are data in what is written, never code', () => {
  fc.assert(
    fc.property(fc.array(declaration, { minLength: 1, maxLength: 4 }), (declarations) => {
      const files = scenarioFiles(planTools(declarations), names)
      scenarioPackageSchema.parse(JSON.parse(files['package.json']))
      for (const [path, text] of Object.entries(files)) {
        // Reordering and invisible characters hide code from a reader.
        expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
        if (!path.endsWith('.ts')) continue
        const { program, errors, comments } = parseSync(path, text)
        expect(errors).toEqual([])
        for (const { value } of comments) expect(value.startsWith('*') || !value.includes('\n')).toBe(true)
        expect(calledNames(program)).not.toContain('globalThis.pwned')
        expect(calledNames(program)).not.toContain('pwned')
      }
    }),
    { numRuns: 100 },
  )
})

type CallNode = { type?: string; callee?: { name?: string; object?: { name?: string }; property?: { name?: string } } }

/** What a program calls: `name` or `object.name`. */
function calledNames(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return []
  if (Array.isArray(node)) return node.flatMap(calledNames)
  const { type, callee } = node as CallNode
  const isCall = type === 'CallExpression' || type === 'NewExpression'
  const called = callee?.name ?? `${callee?.object?.name}.${callee?.property?.name}`
  return [...(isCall ? [called] : []), ...Object.values(node).flatMap(calledNames)]
}
