import { expect, it } from 'vitest'
import { ageOf } from './values.tsx'

const nowMs = Date.parse('2026-06-15T12:00:00Z')

it.each([
  ['2026-06-15T11:59:30Z', 'just now'],
  ['2026-06-15T12:00:30Z', 'just now'],
  ['2026-06-15T11:59:00Z', '1 minute ago'],
  ['2026-06-15T09:30:00Z', '2 hours ago'],
  ['2026-06-13T12:00:00Z', '2 days ago'],
  ['2026-06-01T12:00:00Z', '2 weeks ago'],
  ['2026-03-15T12:00:00Z', '3 months ago'],
  ['2024-06-01T12:00:00Z', '2 years ago'],
])('%s is %s', (at, age) => expect(ageOf(at, nowMs)).toBe(age))
