import { svgMarkup } from '@agentgym/pictures'
import { expect, it } from 'vitest'
import { pairedPlot } from './paired-plot.ts'

const cxOf = (text: string, name: string) =>
  [...text.matchAll(new RegExp(`<circle class="${name}" cx="([\\d.]+)" cy="([\\d.]+)"`, 'g'))].map(([, x, y]) => [
    +x,
    +y,
  ])

it('has a dot for each episode, stacked where they are equal, and the mean below', () => {
  const plot = { differences: [-1, 3, 3, 3], mean: 2, confidence: { low: -1, high: 3 }, title: '"a" & b' }
  const text = svgMarkup(pairedPlot(plot))
  const dots = cxOf(text, 'pic-curve-end')
  expect(dots.map(([x]) => x)).toEqual([16, 384, 384, 384])
  expect(new Set(dots.slice(1).map(([, y]) => y)).size).toBe(3)
  expect(cxOf(text, 'pic-tip')).toEqual([[292, 96]])
  expect(text).toContain('<title>&quot;a&quot; &amp; b</title>')
})

it('draws agents that play alike, and many episodes within its height', () => {
  const equal = svgMarkup(pairedPlot({ differences: Array(1_000).fill(0), mean: 0, confidence: null, title: 'same' }))
  const dots = cxOf(equal, 'pic-curve-end')
  expect(dots).toHaveLength(1_000)
  for (const [x, y] of dots) expect([x, y > 4 && y < 96]).toEqual([200, true])
  expect(equal).not.toContain('NaN')
})
