import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonLog } from './json-log.ts'

function logged(write: (log: ReturnType<typeof jsonLog>) => void, lowest?: 'info' | 'warn' | 'error'): string[] {
  const lines: string[] = []
  write(jsonLog((line) => lines.push(line), lowest))
  return lines
}

const entry = (data: Record<string, unknown>, message = 'hello') => {
  const [line] = logged((log) => log.info(message, data))
  expect(line.endsWith('\n')).toBe(true)
  return JSON.parse(line)
}

describe('a line', () => {
  it('has time, level and message first, then the data', () => {
    const [line] = logged((log) => log.warn('lease lost', { run_id: 'r', attempt: 2, nothing: undefined }))
    expect(line).toMatch(
      /^\{"at":"\d{4}-\d\d-\d\dT[\d:.]+Z","level":"warn","message":"lease lost","run_id":"r","attempt":2\}\n$/,
    )
  })

  it('is written at or above the configured level', () => {
    const all = (log: ReturnType<typeof jsonLog>) => {
      log.info('a')
      log.warn('b')
      log.error('c')
    }
    expect(logged(all).map((line) => JSON.parse(line).message)).toEqual(['a', 'b', 'c'])
    expect(logged(all, 'warn').map((line) => JSON.parse(line).message)).toEqual(['b', 'c'])
    expect(logged(all, 'error').map((line) => JSON.parse(line).message)).toEqual(['c'])
  })

  it('cannot be forged by its content', () => {
    const forged = 'x\n{"at":"2026","level":"error","message":"the database is gone"}\r\n'
    const lines = logged((log) => log.info(forged, { [forged]: forged, level: 'error', at: 'never', message: forged }))
    expect(lines).toHaveLength(1)
    expect(lines[0].match(/\n/g)).toHaveLength(1)
    expect(JSON.parse(lines[0])).toMatchObject({ level: 'info', message: forged, [forged]: forged })
    expect(JSON.parse(lines[0]).at).not.toBe('never')
  })

  it('keeps every text, and escapes terminal control characters', () => {
    const hostile = '\u001b[2J \u009b31m \u202egnp.exe\u202c \u2028 \u200b \ufeff \ud800 é 成功'
    const [line] = logged((log) => log.info('hello', { hostile }))
    expect(line.slice(0, -1)).not.toMatch(/\p{Cc}|[\u200b-\u200f\u2028-\u202e\ufeff]/u)
    expect(JSON.parse(line).hostile).toBe(hostile)
    expect(line).toContain('é 成功')
  })

  it('is one line of JSON for any content', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.jsonValue(), (message, value) => {
        const read = entry({ value }, message)
        expect([read.message, read.value]).toEqual([message, JSON.parse(JSON.stringify(value))])
      }),
      { numRuns: 300 },
    )
  })

  it('has a limited length: long texts and lines are truncated', () => {
    const long = 'a'.repeat(1_000_000)
    expect(entry({ long }).long).toBe(`${'a'.repeat(8_000)}… (992000 more)`)
    expect(entry({}, long).message).toHaveLength(8_000 + '… (992000 more)'.length)
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`key${index}`, 'value']))
    const [line] = logged((log) => log.error('many', many))
    expect(line.length).toBeLessThan(32_000)
    expect(JSON.parse(line)).toMatchObject({
      level: 'error',
      message: 'many',
      data: expect.stringMatching(/… \(\d+ more\)$/),
    })
  })

  it('never fails', () => {
    const circle: Record<string, unknown> = {}
    circle.itself = circle
    const throwing = {
      get boom() {
        throw new Error('no')
      },
    }
    expect(entry({ circle })).toMatchObject({ message: 'hello', data: 'cannot be shown' })
    expect(entry({ throwing })).toMatchObject({ message: 'hello', data: 'cannot be shown' })
    expect(entry({ big: 2n ** 70n, none: Number.NaN })).toMatchObject({ big: '1180591620717411303424', none: null })
  })
})
