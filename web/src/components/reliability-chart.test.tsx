import { type Calibration, reliabilityOf } from '@agentgym/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ReliabilityChart } from './reliability-chart.tsx'

const draw = (calibration: Calibration) => String(<ReliabilityChart calibration={calibration} />)
const placesOf = (html: string) =>
  [...html.matchAll(/points="([^"]*)"/g)].map(([, points]) =>
    points.split(' ').map((each) => each.split(',').map(Number)),
  )

describe('a reliability chart', () => {
  it('puts predictions that come true as often as they say on the diagonal', () => {
    const made = [2, 5, 9].flatMap((right) =>
      Array.from({ length: 10 }, (_, i) => ({ predicted: right / 10, succeeded: i < right })),
    )
    const html = draw({ choices: 30, succeeded: 16, probability: reliabilityOf(made), confidence: null })
    const [, x1, y1, x2, y2] = (/reliability-ideal" x1="(.*?)" y1="(.*?)" x2="(.*?)" y2="(.*?)"/.exec(html) ?? []).map(
      Number,
    )
    const [points] = placesOf(html)
    expect(points).toHaveLength(3)
    for (const [x, y] of points) expect((x - x1) / (x2 - x1)).toBeCloseTo((y - y1) / (y2 - y1), 2)
    expect(html).not.toContain('Confidence')
  })

  it('draws any evaluation within its bounds, in two marks that need no color', () => {
    const predictions = fc.array(
      fc.record({ predicted: fc.double({ min: 0, max: 1, noNaN: true }), succeeded: fc.boolean() }),
      { minLength: 1, maxLength: 60 },
    )
    fc.assert(
      fc.property(predictions, (made) => {
        const reliability = reliabilityOf(made)
        const succeeded = made.filter((each) => each.succeeded).length
        const html = draw({ choices: made.length, succeeded, probability: reliability, confidence: reliability })
        const curves = placesOf(html)
        expect(curves).toHaveLength(2)
        for (const place of curves.flat(2)) expect(place >= 0 && place <= 312).toBe(true)
        const count = (tag: string) => html.split(`<${tag} class="reliability-mark`).length - 1
        // One more each in the legend.
        expect([count('circle'), count('rect')]).toEqual(Array(2).fill(reliability.bins.length + 1))
        expect(html).not.toMatch(/NaN|Infinity/)
      }),
    )
  })
})
