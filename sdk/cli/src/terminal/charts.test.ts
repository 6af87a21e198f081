import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { curveChart, sparkline } from './charts.ts'
import { describeTerminal } from './terminal.ts'

const draw = (points: { x: number; y: number }[], options: Partial<Parameters<typeof curveChart>[1]> = {}) =>
  curveChart(points, { width: 30, height: 6, xEnd: 100, unicode: false, ...options }).map(
    ({ axis, plot }) => axis + plot,
  )

describe('curveChart', () => {
  it('draws a straight line from corner to corner', () => {
    const line = [
      { x: 0, y: 0 },
      { x: 100, y: 8 },
    ]
    expect(draw(line)).toEqual([
      '   8 |                     ***',
      '     |               ******   ',
      '   4 |         ******         ',
      '     |   ******               ',
      '   0 |***                     ',
      '     +-------------- 100 steps',
    ])
  })

  it('has the requested size for any values', () => {
    const value = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 })
    const points = fc.array(fc.record({ x: fc.integer({ min: 0, max: 1000 }), y: value }), { maxLength: 60 })
    const size = fc.record({ width: fc.integer({ min: 24, max: 160 }), height: fc.integer({ min: 3, max: 40 }) })
    fc.assert(
      fc.property(
        points,
        size,
        fc.boolean(),
        fc.option(value, { nil: undefined }),
        (list, { width, height }, unicode, target) => {
          const rows = curveChart(list, { width, height, xEnd: 1000, unicode, target })
          expect(rows).toHaveLength(height)
          for (const { axis, plot } of rows) expect(stringWidth(axis + plot)).toBe(width)
        },
      ),
    )
  })

  it('marks the target, also when the curve is far below', () => {
    const rows = curveChart([{ x: 50, y: 1 }], { width: 30, height: 6, xEnd: 100, unicode: true, target: 475 })
    expect(rows.findIndex((row) => row.target)).toBe(0)
    expect(rows[0].plot).toContain('╌')
    expect(rows[0].axis).toContain('475')
  })
})

describe('sparkline', () => {
  const { symbols } = describeTerminal({}, { LANG: 'en_US.UTF-8' }, { color: false })

  it('scales between minimum and maximum, and skips gaps', () => {
    expect(sparkline([0, null, 1, 2, 3, 4, 5, 6, 7], 8, symbols)).toBe('▁▂▃▄▅▆▇█')
    expect(sparkline([5, 5, 5], 8, symbols)).toBe('▄▄▄')
    expect(sparkline([null], 8, symbols)).toBe('')
  })

  it('averages if there are more values than columns', () => {
    expect(sparkline([0, 0, 7, 7], 2, symbols)).toBe('▁█')
  })
})
