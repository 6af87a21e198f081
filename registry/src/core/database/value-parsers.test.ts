import { describeOnBothEngines } from '@agentgym/testkit/databases'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from './database.ts'

// PostgreSQL keeps any character but NUL.
const text = fc.string({ unit: 'grapheme' }).map((string) => string.replaceAll('\0', ''))
const day = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))

const cases: [type: string, values: fc.Arbitrary<unknown>][] = [
  ['int8', fc.maxSafeInteger()],
  ['int8[]', fc.array(fc.option(fc.maxSafeInteger()))],
  ['float8', fc.double({ noNaN: true }).map((number) => number + 0)],
  ['boolean', fc.boolean()],
  ['text', text],
  ['text[]', fc.array(text)],
  ['date', day],
  ['date[]', fc.array(fc.option(day))],
  ['timestamptz(3)', fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })],
  ['jsonb', fc.json({ stringUnit: 'grapheme' }).filter((json) => !json.includes('\\u0000'))],
]

describeOnBothEngines('values on $kind', ({ open }) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
  })
  afterAll(() => database.close())

  it.each(cases)('%s round-trips', async (type, values) => {
    const expected = (value: unknown) => (type === 'jsonb' ? JSON.parse(String(value)) : value)
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        const { rows } = await sql<{ value: unknown }>`select ${value}::${sql.raw(type)} as value`.execute(
          database.query,
        )
        expect(rows).toEqual([{ value: expected(value) }])
      }),
    )
  })

  it.each(['9007199254740992', '-9007199254740992', '9223372036854775807'])(
    'int8 %s is an error, alone and in a list',
    async (number) => {
      await expect(sql`select ${number}::int8`.execute(database.query)).rejects.toThrow(number)
      await expect(sql`select array[${number}::int8]`.execute(database.query)).rejects.toThrow(number)
    },
  )
})
