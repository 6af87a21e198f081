import { describe, expect, it } from 'vitest'
import { formatBytes, formatCount, formatDuration, formatTarget, formatValue } from './format-values.ts'

describe('figures', () => {
  it('shows values with about four digits, and null as a dash', () => {
    const cases: [number | null, string][] = [
      [475, '475'],
      [312.449, '312.4'],
      [999.96, '1,000.0'],
      [-1234.5, '-1,234.5'],
      [12.345, '12.35'],
      [0.02134, '0.0213'],
      [0.00001234, '1.2e-5'],
      [-0, '0'],
      [1e9, '1.00e+9'],
      [null, '-'],
      [Number.NaN, '-'],
    ]
    for (const [value, text] of cases) expect(formatValue(value)).toBe(text)
  })

  it('shows targets as written', () => {
    expect(formatTarget(0.95)).toBe('0.95')
    expect(formatTarget(-100)).toBe('-100')
  })

  it('shows counts, durations and sizes', () => {
    expect(formatCount(1234567)).toBe('1,234,567')
    expect(formatDuration(0.44)).toBe('0.4 s')
    expect(formatDuration(59.4)).toBe('59 s')
    expect(formatDuration(185)).toBe('3 min 05 s')
    expect(formatDuration(3600 * 2.5)).toBe('2 h 30 min')
    expect(formatDuration(7199.9)).toBe('2 h 00 min')
    expect(formatBytes(812)).toBe('812 B')
    expect(formatBytes(3400)).toBe('3.4 kB')
    expect(formatBytes(1.25e6)).toBe('1.3 MB')
  })
})
