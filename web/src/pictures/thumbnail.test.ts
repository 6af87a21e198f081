import { svgMarkup } from '@agentgym/pictures'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { emblem } from './thumbnail.ts'

it('is deterministic, mirrored, and rarely equal for different hashes', () => {
  const seen = new Set<string>()
  for (let i = 0; i < 1_000; i++) {
    const markup = svgMarkup(emblem(`sha512-${i}`))
    expect(svgMarkup(emblem(`sha512-${i}`))).toBe(markup)
    seen.add(markup)
  }
  expect(seen.size).toBe(1_000)
})

it('is drawn for any text', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(svgMarkup(emblem(text))).not.toMatch(/NaN|undefined/)
    }),
  )
})
