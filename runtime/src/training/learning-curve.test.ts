import fc from 'fast-check'
import { expect, it } from 'vitest'
import { drawLearningCurve } from './learning-curve.ts'

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
