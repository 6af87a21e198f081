import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { jsonValues, ValueScanner } from './json-values.ts'

const folder = mkdtempSync(join(tmpdir(), 'agentgym-json-'))
afterAll(() => rmSync(folder, { recursive: true }))

function scan(text: string, cuts: readonly number[] = []): unknown[] {
  const scanner = new ValueScanner('x')
  const bytes = Buffer.from(text)
  const values: unknown[] = []
  let from = 0
  for (const cut of [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    values.push(...scanner.push(bytes.subarray(from, cut)))
    from = cut
  }
  values.push(...scanner.end())
  return values
}

const objects = fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 5 })
const cuts = fc.array(fc.nat(), { maxLength: 6 })

it.each([
  ['JSON Lines', (values: object[]) => values.map((value) => JSON.stringify(value)).join('\n')],
  [
    'objects over several lines',
    (values: object[]) => values.map((value) => JSON.stringify(value, null, 2)).join('\n\n'),
  ],
  ['a list', (values: object[]) => JSON.stringify(values)],
  ['a list over several lines', (values: object[]) => `\ufeff ${JSON.stringify(values, null, 2)}\n`],
  ['a page', (values: object[]) => JSON.stringify({ runs: values, cursors: { next: [1] } })],
  [
    'pages, a line each',
    (values: object[]) => values.map((value) => JSON.stringify({ resourceSpans: [value] })).join('\n'),
  ],
])('%s gives the values that were written, wherever the file is cut', (_, write) => {
  fc.assert(
    fc.property(objects, cuts, (values, at) => {
      // A line of its own may look like a page.
      fc.pre(values.every((value) => !['runs', 'data', 'traces'].some((name) => name in value)))
      expect(scan(write(values), at)).toEqual(JSON.parse(JSON.stringify(values)))
    }),
  )
})

it.each([
  ['PAR1\u0015\u0004', /begin with/],
  ['{"a": 1', /ends within a value/],
  ['{"a": "', /ends within a value/],
  ['{"a": tru}', /value 1 is not valid JSON/],
  ['{}}', /closes what none opened/],
])('%j is refused', (text, message) => {
  expect(() => scan(text)).toThrow(
    expect.objectContaining({ code: 'traces_invalid', message: expect.stringMatching(message) }),
  )
})

it('reads packed files', async () => {
  const path = join(folder, 'log.jsonl.gz')
  writeFileSync(path, gzipSync('{"a":1}\n{"a":2}\n'))
  expect(await Array.fromAsync(jsonValues(path))).toEqual([{ a: 1 }, { a: 2 }])
})
