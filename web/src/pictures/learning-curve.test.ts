import { svgMarkup } from '@agentgym/pictures'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { learningCurve, sparkline } from './learning-curve.ts'

const curve = [
  { steps: 1_000, return_mean: -200 },
  { steps: 500_000, return_mean: -120.5 },
  { steps: 1_000_000, return_mean: -130 },
]

describe('a learning curve', () => {
  it('describes itself in words', () => {
    const markup = svgMarkup(learningCurve(curve, { title: 'Learning curve', target: -110 }))
    expect(markup).toContain('<title>Learning curve</title>')
    expect(markup).toContain(
      '<desc>Mean return from −200 at 1,000 steps to −130 at 1,000,000 steps; the highest is −120.5 at 500,000 steps. Success target: −110.</desc>',
    )
    for (const label of ['0', '200k', '1M', 'environment steps', '−150', 'success −110'])
      expect(markup).toContain(`>${label}</text>`)
  })

  it('rises to the right, and ends at its last point', () => {
    const markup = svgMarkup(learningCurve(curve))
    const [first, , last] = (/class="pic-curve" points="([^"]+)"/.exec(markup)?.[1] ?? '')
      .split(' ')
      .map((corner) => corner.split(',').map(Number))
    expect(last[0]).toBeGreaterThan(first[0])
    expect(last[1]).toBeLessThan(first[1])
    const [, x, y] = /class="pic-curve-end" cx="([\d.]+)" cy="([\d.]+)"/.exec(markup) ?? []
    // A line is in tenths.
    expect(Math.abs(Number(x) - last[0])).toBeLessThan(0.051)
    expect(Math.abs(Number(y) - last[1])).toBeLessThan(0.051)
  })

  it('is drawn for any reported points', () => {
    const point = fc.record({ steps: fc.nat(), return_mean: fc.double({ noNaN: true, noDefaultInfinity: true }) })
    fc.assert(
      fc.property(
        fc.array(point, { maxLength: 20 }),
        fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }), { nil: undefined }),
        (points, target) => {
          const sorted = points.toSorted((a, b) => a.steps - b.steps)
          for (const picture of [learningCurve(sorted, { target }), sparkline(sorted)])
            expect(svgMarkup(picture)).not.toMatch(/NaN|Infinity|undefined/)
        },
      ),
    )
  })
})
