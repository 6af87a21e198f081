import fc from 'fast-check'
import { expect, it } from 'vitest'
import { drawLearningCurve, drawSeedCurves } from './learning-curve.ts'

const point = (steps: number, return_mean: number | null) => ({ steps, return_mean }) as never
const coordinates = (svg: string) =>
  [...svg.matchAll(/ (?:x|y|x1|y1|x2|y2|cx|cy)="([^"]*)"/g)].map(([, value]) => Number(value))
const lineOf = (svg: string) =>
  /polyline points="([^"]*)"/
    .exec(svg)?.[1]
    .split(' ')
    .map((pair) => pair.split(',').map(Number))

it('draws the curve from left to right within its axes, and the target dashed', () => {
  const svg = drawLearningCurve([point(0, null), point(500, 20), point(1_000, 400)], { title: 'maze', target: 475 })
  const [first, last] = lineOf(svg) ?? []
  expect([first[0], last[0]]).toEqual([384, 696])
  expect(last[1]).toBeLessThan(first[1])
  const dashed = Number(/<line x1="72" y1="([\d.]+)"[^>]*dasharray/.exec(svg)?.[1])
  expect(dashed).toBeLessThan(last[1])
  for (const shown of ['maze', 'target 475', 'environment steps', '>1k<', '>400<']) expect(svg).toContain(shown)
})

it('shows a single point, and an empty curve as axes alone', () => {
  expect(drawLearningCurve([point(10, 3)], { title: '', target: null })).toContain('<circle')
  const empty = drawLearningCurve([], { title: '', target: null })
  expect(empty).toContain('environment steps')
  expect(empty).not.toMatch(/polyline|circle|dasharray/)
})

it('is the same bytes for the same curve, inside the picture and well-formed, whatever the values', () => {
  const value = fc.double({ noNaN: true, noDefaultInfinity: true })
  const curves = fc.array(fc.tuple(fc.nat(1e9), fc.option(value)), { maxLength: 400 })
  const options = fc.record({ title: fc.string({ unit: 'binary' }), target: fc.option(value) })
  fc.assert(
    fc.property(curves, options, (list, { title, target }) => {
      const curve = list.toSorted(([a], [b]) => a - b).map(([steps, mean]) => point(steps, mean))
      const svg = drawLearningCurve(curve, { title, target })
      expect(drawLearningCurve(curve, { title, target })).toBe(svg)
      const places = [...coordinates(svg), ...(lineOf(svg) ?? []).flat()]
      expect(places.filter((place) => !(place >= 0 && place <= 720))).toEqual([])
      for (const [, content] of svg.matchAll(/<text[^>]*>([\s\S]*?)<\/text>/g))
        expect(content.replace(/&(?:amp|lt|gt);/g, '')).not.toMatch(/[<>&]/)
      expect(svg.replace(/<text[^>]*>[^<]*<\/text>|<(?:rect|line|polyline|circle) [^<>]*\/>|\n/g, '')).toMatch(
        /^<svg [^<>]*><\/svg>$/,
      )
    }),
  )
})

it('draws the mean of several seeds with a band from the lowest to the highest', () => {
  const curve = (...values: number[]) => values.map((return_mean, i) => ({ steps: i * 100, return_mean }))
  const curves = [curve(0, 100, 200), curve(0, 300, 400), curve(0, 200)]
  const svg = drawSeedCurves([{ label: 'ppo', curves }], { title: 'maze', target: null })
  const line = lineOf(svg) ?? []
  const band = (/polygon points="([^"]*)"/.exec(svg)?.[1] ?? '').split(' ').map((pair) => pair.split(',').map(Number))
  const middle = line[Math.floor(line.length / 2)]
  const [low, high] = [band[Math.floor(line.length / 2)], band[band.length - 1 - Math.floor(line.length / 2)]]
  // At about 100 steps the seeds have 100, 200 and 300: the mean is halfway between the edges of the band.
  expect(middle[1]).toBeCloseTo((low[1] + high[1]) / 2, 0)
  expect(high[1]).toBeLessThan(low[1])
  // The third seed ended with 200 and keeps it: at the end the mean is 266.7, above the middle of 200 and 400.
  const end = line[line.length - 1][1]
  expect(end).toBeGreaterThan(band[line.length][1])
  expect(end).toBeLessThan(band[line.length - 1][1])
  for (const shown of ['maze', 'ppo, 3 seeds']) expect(svg).toContain(shown)
})

it('draws experiments without a point as axes alone', () => {
  const svg = drawSeedCurves([{ label: 'a', curves: [[]] }], { title: '', target: 3 })
  expect(svg).toContain('environment steps')
  expect(svg).not.toMatch(/NaN|Infinity/)
})
