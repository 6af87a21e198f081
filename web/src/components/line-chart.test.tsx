import type { ChartPoint } from '@agentgym/contract/charts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineChart } from './line-chart.tsx'

const draw = (points: ChartPoint[], target?: number) =>
  String(
    <LineChart
      title="Return"
      unit="steps"
      series={[{ name: 'Return', points }]}
      target={target === undefined ? undefined : { value: target, name: 'Success target' }}
    />,
  )
const pathIn = (html: string) => /<path class="chart-line chart-line-1" d="([^"]*)"/.exec(html)?.[1] ?? ''

describe('a line chart', () => {
  it('without data says so, with its target', () => {
    for (const points of [[], [{ x: 100, y: null }]]) expect(draw(points, 475)).toContain('No data yet')
    expect(draw([], 475)).toContain('Success target 475')
  })

  it('has a gap for missing values', () => {
    const points = [10, 20, null, 40, 50].map((y, index) => ({ x: index * 100, y }))
    expect(pathIn(draw(points)).match(/M/g)).toHaveLength(2)
  })

  it('draws any numbers within its bounds, thinned, ending at the last one', () => {
    const value = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(null))
    fc.assert(
      fc.property(fc.array(value, { maxLength: 900 }), (values) => {
        const points = values.map((y, index) => ({ x: (index + 1) * 64, y }))
        const places = [...pathIn(draw(points)).matchAll(/[ML](\S+) ([^ML]+)/g)].map(([, x, y]) => [
          Number(x),
          Number(y),
        ])
        expect(places.length).toBeLessThanOrEqual(300)
        for (const place of places.flat()) expect(place >= 0 && place <= 1000).toBe(true)
        if (values.length > 0 && values.at(-1) !== null) expect(places.at(-1)?.[0]).toBe(1000)
      }),
      { numRuns: 60 },
    )
  })
})
