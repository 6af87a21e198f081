import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mapSchema, wordsOf } from './schema-parameters.ts'

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const map = (property: unknown, name = 'field', more: object = {}) =>
  mapSchema(object({ [name]: property }, more), 'get_order')

describe('what a policy chooses', () => {
  it.each([
    ['an enum', { enum: ['a', 'b'] }, { kind: 'choice', values: ['a', 'b'] }],
    ['an enum with null', { enum: ['a', null] }, { kind: 'choice', values: ['a'] }],
    ['an enum of numbers', { enum: [1, 2.5] }, { kind: 'choice', values: ['1', '2.5'] }],
    ['a boolean', { type: 'boolean' }, { kind: 'choice', values: ['true', 'false'] }],
    [
      'alternatives that are constants',
      { oneOf: [{ const: 'a' }, { const: 'b' }] },
      { kind: 'choice', values: ['a', 'b'] },
    ],
    [
      'an integer in bounds',
      { type: 'integer', minimum: 1, maximum: 9 },
      { kind: 'number', low: 1, high: 9, integer: true },
    ],
    ['exclusive bounds', { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 10 }, { low: 1, high: 9 }],
    [
      'exclusive bounds of draft 4',
      { type: 'integer', minimum: 0, exclusiveMinimum: true, maximum: 9 },
      { low: 1, high: 9 },
    ],
    ['bounds that are no integers', { type: 'integer', minimum: 0.5, maximum: 3.5 }, { low: 1, high: 3 }],
    ['a number in bounds', { type: 'number', minimum: -0.5, maximum: 0.5 }, { low: -0.5, high: 0.5, integer: false }],
    [
      'a number or null',
      { anyOf: [{ type: 'number', minimum: 0, maximum: 1 }, { type: 'null' }] },
      { low: 0, high: 1 },
    ],
    ['a list of types', { type: ['boolean', 'null'] }, { kind: 'choice' }],
    ['a list of an enum', { type: 'array', items: { enum: ['a', 'b'] } }, { kind: 'choice', values: ['a', 'b'] }],
  ])('%s', (_, property, parameter) => {
    const { parameters, written } = map(property)
    expect(written).toEqual([])
    expect(parameters).toEqual([expect.objectContaining({ name: 'field', field: 'field', ...parameter })])
  })

  it.each([
    ['order_id', 'order'],
    ['orderId', 'order'],
    ['order_ids', 'order'],
    ['customerUUID', 'customer'],
    ['id', 'order'],
  ])('%s is an id of %s', (name, entity) => {
    expect(map({ type: 'string' }, name).parameters).toEqual([{ name, field: name, kind: 'pointer', entity }])
  })

  it('what references name', () => {
    const $defs = { Team: { enum: ['a', 'b'] } }
    expect(map({ $ref: '#/$defs/Team' }, 'team', { $defs }).parameters).toMatchObject([{ values: ['a', 'b'] }])
    expect(map({ allOf: [{ $ref: '#/$defs/Team' }], description: 'x' }, 'team', { $defs }).parameters).toHaveLength(1)
  })

  it('fields of an object, under one name', () => {
    const address = object({ kind: { enum: ['home', 'work'] }, street: { type: 'string' } })
    expect(map(address, 'address')).toEqual({
      parameters: [{ name: 'address_kind', field: 'address.kind', kind: 'choice', values: ['home', 'work'] }],
      written: [{ field: 'address.street', why: 'free text' }],
      changed: [],
    })
  })
})

describe('what a language model writes, and why', () => {
  it.each([
    ['text', { type: 'string' }, 'free text'],
    ['a date', { type: 'string', format: 'date' }, 'text of the format date'],
    ['a pattern', { type: 'string', pattern: '^a' }, 'text of a pattern'],
    ['a number without bounds', { type: 'number' }, 'the schema has no bounds: add minimum and maximum, within ±1e9'],
    [
      'a number without a maximum',
      { type: 'integer', minimum: 1 },
      'the schema has no bounds: add a maximum, within ±1e9',
    ],
    ['no range', { type: 'integer', minimum: 1, maximum: 1 }, 'the bounds 1 and 1 leave no range'],
    ['a constant', { const: 'x' }, 'always "x"'],
    ['no type', {}, 'the schema names no type'],
    ['true', true, 'any value is allowed'],
    ['an empty enum', { enum: [] }, 'the enum is empty'],
    ['a long enum', { enum: Array.from({ length: 300 }, (_, i) => `v${i}`) }, 'the enum has 300 values, more than 256'],
    ['alternatives', { anyOf: [{ type: 'string' }, { type: 'number' }] }, 'the schema has 2 alternatives'],
    ['free fields', { type: 'object', additionalProperties: true }, 'the names of its fields are not fixed'],
    ['a list of objects', { type: 'array', items: object({ a: { enum: ['x'] } }) }, 'a list of objects'],
    ['a list of texts', { type: 'array', items: { type: 'string' } }, 'a list of: free text'],
    ['a dead reference', { $ref: '#/$defs/None' }, 'the reference #/$defs/None leads nowhere in this schema'],
    ['a foreign reference', { $ref: 'https://x.org/a' }, 'the reference https://x.org/a leads nowhere in this schema'],
  ])('%s', (_, property, why) => {
    expect(map(property)).toEqual({ parameters: [], written: [{ field: 'field', why }], changed: [] })
  })

  it('a schema that refers to itself', () => {
    const self = { $ref: '#/$defs/A' }
    expect(map(self, 'field', { $defs: { A: self } }).written).toEqual([
      { field: 'field', why: 'the schema refers to itself' },
    ])
    const tree = object(
      { node: { $ref: '#/$defs/Node' } },
      { $defs: { Node: object({ next: { $ref: '#/$defs/Node' } }) } },
    )
    expect(mapSchema(tree, 'x').written).toEqual([
      { field: 'node.next.next.next.next', why: 'objects are nested deeper than 4' },
    ])
  })

  it('the rest of very many', () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`p${i}`, { type: 'boolean' }]))
    const { parameters, written } = mapSchema(object(many), 'x')
    expect(parameters).toHaveLength(32)
    expect(written).toEqual([{ field: '…', why: 'a tool has at most 32 arguments here' }])
  })
})

it('any JSON is a schema that maps or is left, with names that differ', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.dictionary(fc.string(), fc.jsonValue()), (one, other) => {
      for (const schema of [one, object(other), object({ a: one, b: other, 'a.b': one })]) {
        const { parameters } = mapSchema(schema, 'x')
        const names = parameters.map(({ name }) => name)
        expect(new Set(names).size).toBe(names.length)
        for (const name of names) expect(name).toMatch(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/)
      }
    }),
  )
})

it('words of names', () => {
  expect(wordsOf('getOrderByID')).toEqual(['get', 'order', 'by', 'id'])
  expect(wordsOf('HTTPServer-list_all.v2')).toEqual(['http', 'server', 'list', 'all', 'v2'])
})
