import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mostRunEpisodes, thinEpisodes } from './run-episodes.ts'

/** Episodes that arrive one after the other; `arrived` also has those that were dropped. */
function keep(arrivals: number[]) {
  let kept: { steps: number }[] = []
  for (const steps of arrivals) kept = thinEpisodes([...kept, { steps }])
  return kept.map(({ steps }) => steps)
}

const distinctSteps = fc.uniqueArray(fc.nat(1_000_000), { minLength: 1, maxLength: 80 })

describe('thinning sampled episodes', () => {
  it('keeps the first and the latest, at most twelve, in order, and no wider gaps than it must', () => {
    fc.assert(
      fc.property(distinctSteps, (arrivals) => {
        const kept = keep(arrivals)
        const sorted = arrivals.toSorted((a, b) => a - b)
        expect(kept).toEqual(sorted.filter((steps) => kept.includes(steps)))
        expect([kept[0], kept.at(-1)]).toEqual([sorted[0], sorted.at(-1)])
        expect(kept.length).toBe(Math.min(mostRunEpisodes, arrivals.length))
        const widest = (2 * (sorted[sorted.length - 1] - sorted[0])) / (mostRunEpisodes - 1)
        for (const [i, steps] of kept.entries()) {
          if (i === 0) continue
          const between = sorted.some((other) => other > kept[i - 1] && other < steps)
          if (between) expect(steps - kept[i - 1]).toBeLessThanOrEqual(widest)
        }
      }),
    )
  })

  it('spreads evenly what arrives evenly, at any time of the run', () => {
    for (let arrived = mostRunEpisodes; arrived < 400; arrived++) {
      const kept = keep(Array.from({ length: arrived }, (_, i) => i * 1_000))
      const gaps = kept.slice(1).map((steps, i) => steps - kept[i])
      // The latest is kept wherever it is, so the gap before it may be small.
      expect(Math.max(...gaps) / Math.min(...gaps.slice(0, -1))).toBeLessThanOrEqual(3)
    }
  })

  it('keeps two at least', () => {
    expect(thinEpisodes([{ steps: 3 }, { steps: 1 }, { steps: 2 }], 0)).toEqual([{ steps: 1 }, { steps: 3 }])
  })
})
