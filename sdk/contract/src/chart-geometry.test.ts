import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  axisTicks,
  bandOf,
  chartGeometry,
  formatSteps,
  formatValue,
  smoothPoints,
  thinPoints,
  valueRange,
} from './chart-geometry.ts'

it('ticks are round, even and within their axis', () => {
  expect(axisTicks(0, 1_000_000, 4)).toEqual([0, 500_000, 1_000_000])
  expect(axisTicks(-0.3, 0.3, 5)).toEqual([-0.2, 0, 0.2])
  fc.assert(
    fc.property(
      fc.double({ min: -1e9, max: 1e9, noNaN: true }),
      fc.double({ min: 1e-3, max: 1e9, noNaN: true }),
      (low, span) => {
        const ticks = axisTicks(low, low + span, 4)
        expect(ticks.length).toBeLessThanOrEqual(6)
        for (const tick of ticks) {
          expect(tick).toBeGreaterThanOrEqual(low - span * 1e-6 - Math.abs(low) * 1e-9)
          expect(tick).toBeLessThanOrEqual(low + span * (1 + 1e-6) + Math.abs(low) * 1e-9)
        }
      },
    ),
  )
})

describe('the geometry of a chart', () => {
  const points = [10, 20, null, 40, 50].map((y, index) => ({ x: (index + 1) * 100, y }))

  it('scales lines between 0 and 1, with gaps for missing values', () => {
    const { lines, yTicks } = chartGeometry([points], { xTicks: 5, yTicks: 4 })
    expect(lines[0].map((stretch) => stretch.length)).toEqual([2, 2])
    expect(lines[0].at(-1)?.at(-1)?.x).toBe(1)
    expect(yTicks.map(({ value }) => value)).toEqual([20, 40])
  })

  it('includes the target', () => {
    const { y } = chartGeometry([points], { target: 475, xTicks: 5, yTicks: 4 })
    expect(y(475)).toBeLessThan(1)
    expect(y(50)).toBeLessThan(0.2)
  })

  it('shows the requested part of the x axis', () => {
    const { lines, x } = chartGeometry([points], { domain: [100, 200], xTicks: 5, yTicks: 4 })
    expect(lines[0].flat()).toHaveLength(2)
    expect([x(100), x(200)]).toEqual([0, 1])
  })

  it('supports values that differ by the smallest number', () => {
    for (const target of [Number.MIN_VALUE, -Number.MIN_VALUE, 2e-322]) {
      const { y, yTicks } = chartGeometry([[{ x: 0, y: 0 }]], { target, xTicks: 5, yTicks: 4 })
      for (const place of [y(0), y(target), ...yTicks.map(({ at }) => at)]) expect(place).toBeGreaterThanOrEqual(0)
    }
  })

  it('is empty for no data', () => {
    expect(chartGeometry([[{ x: 1, y: null }]], { xTicks: 5, yTicks: 4 }).empty).toBe(true)
  })
})

it('thins a long series by averaging, and keeps its end', () => {
  const long = Array.from({ length: 1_000 }, (_, index) => ({ x: index, y: index }))
  const thin = thinPoints(long, 100)
  expect(thin.length).toBeLessThanOrEqual(100)
  expect(thin.at(-1)).toEqual({ x: 999, y: 999 })
})

it('centers a level line', () => {
  expect(valueRange([475, 475])).toEqual([427.5, 522.5])
  expect(valueRange([0, 100], 0)).toEqual([0, 100])
  expect(valueRange([0, 0])).toEqual([-0.05, 1])
})

it.each([
  [0, '0'],
  [-120.5, '−120.5'],
  [12_345, '12,350'],
  [1.5e9, '1.5e9'],
])('%d reads %s', (value, text) => expect(formatValue(value)).toBe(text))

it('steps are short', () => {
  expect([999, 200_000, 1_200_000].map(formatSteps)).toEqual(['999', '200k', '1.2M'])
})

it('faint points have lines of their own, which join the solid ones', () => {
  const points = [1, 2, 3, 4].map((x) => ({ x, y: x, faint: x < 3 }))
  const { lines, faint } = chartGeometry([points], { xTicks: 2, yTicks: 2 })
  expect([faint[0].length, lines[0].length]).toEqual([1, 1])
  expect(faint[0][0].map(({ x }) => x)).toEqual([0.25, 0.5])
  expect(lines[0][0].map(({ x }) => x)).toEqual([0.5, 0.75, 1])
})

describe('a logarithmic axis', () => {
  const options = { scale: 'log', xTicks: 2, yTicks: 4, margin: 0 } as const

  it('has powers of ten, and gaps for what has no logarithm', () => {
    const points = [1e-3, 0, -1, 1, 1e3].map((y, x) => ({ x, y }))
    const { yTicks, lines, y, range } = chartGeometry([points], options)
    expect(yTicks.map(({ value }) => value)).toEqual([0.01, 1, 100])
    expect(range).toEqual([-3, 3])
    expect([y(1e-3), y(1), y(1e3), y(-5)]).toEqual([0, 0.5, 1, 0])
    expect(lines[0].map((stretch) => stretch.length)).toEqual([1, 2])
    expect(chartGeometry([[{ x: 1, y: -1 }]], options).empty).toBe(true)
  })

  it('has round numbers within one power', () => {
    const { yTicks } = chartGeometry([[200, 400].map((y, x) => ({ x, y }))], options)
    expect(yTicks.map(({ value }) => value)).toEqual([200, 300, 400])
  })
})

it('bands, evaluations and targets are in sight', () => {
  const bands = [[1, 2].map((x) => ({ x, low: -10, high: 30 }))]
  const {
    bands: outlines,
    marks,
    range,
  } = chartGeometry([[1, 2].map((x) => ({ x, y: 5 }))], {
    ...{ bands, marks: [{ x: 1, y: 50 }], target: 40, xTicks: 2, yTicks: 2, margin: 0 },
  })
  expect(range).toEqual([-10, 50])
  expect(outlines[0]).toEqual([...[0.5, 1].map((x) => ({ x, y: 40 / 60 })), ...[1, 0.5].map((x) => ({ x, y: 0 }))])
  expect(marks).toEqual([{ x: 0.5, y: 1 }])
})

it('smooths by a moving average without a bias to zero', () => {
  const level = [7, 7, null, 7].map((y, x) => ({ x, y }))
  expect(smoothPoints(level, 0.9).map(({ y }) => y)).toEqual([7, 7, null, 7])
  const [first, second] = smoothPoints(
    [0, 1].map((y, x) => ({ x, y })),
    0.5,
  )
  expect([first.y, second.y]).toEqual([0, 0.666666666667])
  expect(smoothPoints(level, 0)).toBe(level)
})

it('the band of several series ends where the shortest does', () => {
  const rising = [0, 100, 200].map((x) => ({ x, y: x }))
  const falling = [0, 50, 100].map((x) => ({ x, y: x === 50 ? null : 0 - x }))
  expect(bandOf([rising, falling], 3)).toEqual([
    { x: 0, low: 0, high: 0, mean: 0 },
    { x: 50, low: -50, high: 50, mean: 0 },
    { x: 100, low: -100, high: 100, mean: 0 },
  ])
  expect([bandOf([]), bandOf([[{ x: 1, y: 1 }]]), bandOf([[{ x: 1, y: null }]])]).toEqual([[], [], []])
})
