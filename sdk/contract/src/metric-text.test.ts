import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { criterionTexts, formatMetric, formatTarget, metricLabel, metricUnit, outcomeText } from './metric-text.ts'

it.each([
  [0, '0'],
  [499.7, '500'],
  [-151.3, '−151'],
  [12.345, '12.3'],
  [99.96, '100'],
  [0.9732, '0.973'],
  [-0.0213, '−0.0213'],
  [1.2e-7, '1.2e−7'],
  [12_345.6, '12,346'],
  [999_999.9, '1,000,000'],
  [12_345_678, '12.3M'],
  [-4.2e9, '−4.2B'],
  [1e15, '1.0e15'],
  [-1e300, '−1.0e300'],
  [Number.NaN, '–'],
  [Number.POSITIVE_INFINITY, '–'],
  [null, '–'],
  [undefined, '–'],
])('the number %d reads %s', (value, text) => expect(formatMetric(value)).toBe(text))

it.each([
  [0, '0%'],
  [0.00001, '<0.1%'],
  [0.004, '0.4%'],
  [0.0549, '5%'],
  [0.9732, '97%'],
  [0.9949, '99.5%'],
  [0.99999, '99.9%'],
  [1, '100%'],
  [-0.121, '−12%'],
  [-0.00001, '0%'],
  [12.5, '1,250%'],
])('the share %d reads %s', (value, text) => expect(formatMetric(value, 'share')).toBe(text))

it('units come from the name, or from the target', () => {
  expect(['solved', 'won', 'error_rate'].map((metric) => metricUnit(metric))).toEqual(['share', 'share', 'share'])
  expect(metricUnit('eaten', 20)).toBe('number')
  expect(metricUnit('cost_reduction', 0.3)).toBe('share')
  expect(metricUnit('cost_reduction')).toBe('number')
  // Of a scenario whose rewards add up to 1.
  expect(metricUnit('return_mean', 0.9)).toBe('number')
  expect([metricLabel('return_mean'), metricLabel('tool_reliability')]).toEqual(['return', 'tool reliability'])
})

it('targets read as they were written', () => {
  expect([475, 0.975, -110, 1e12].map((target) => formatTarget(target, 'number'))).toEqual([
    ...['475', '0.975', '−110', '1T'],
  ])
  expect([0.975, 0.9, 1, 0.0005].map((target) => formatTarget(target, 'share'))).toEqual([
    ...['97.5%', '90%', '100%', '0.05%'],
  ])
})

describe('a criterion', () => {
  const texts = (metric: string, value: number | null, target: number) =>
    Object.values(criterionTexts({ metric, target, value, ok: value !== null && value >= target }))

  it('has units and digits', () => {
    expect(texts('return_mean', 499.7, 475)).toEqual(['500', '475'])
    expect(texts('solved', 0.9732, 0.9)).toEqual(['97%', '90%'])
    expect(texts('return_mean', -151.3, -200)).toEqual(['−151', '−200'])
    expect(texts('return_mean', null, 1)).toEqual(['–', '1'])
  })

  it('that is missed never reads as met', () => {
    expect(texts('return_mean', 474.7, 475)).toEqual(['474.7', '475'])
    expect(texts('return_mean', 474.99999, 475)).toEqual(['474.9', '475'])
    expect(texts('return_mean', -110.4, -110)).toEqual(['−110.4', '−110'])
    expect(texts('solved', 0.9496, 0.95)).toEqual(['94.9%', '95%'])
    expect(texts('return_mean', 0.9 - 1e-9, 0.9)).toEqual(['0.899', '0.9'])
    const number = fc.double({ noNaN: true, noDefaultInfinity: true })
    const missed = fc.tuple(number, number).filter(([value, target]) => value < target)
    fc.assert(
      fc.property(missed, fc.constantFrom('return_mean', 'solved'), ([value, target], metric) => {
        const [shown, wanted] = texts(metric, value, target)
        expect(shown).not.toBe(wanted)
      }),
    )
  })
})

it('outcomes in words', () => {
  const criterion = (metric: string, value: number, target: number) => ({ metric, value, target, ok: value >= target })
  const words = (...criteria: ReturnType<typeof criterion>[]) => {
    const ok = criteria.length === 0 ? null : criteria.every((one) => one.ok)
    return outcomeText({ return_mean: 12.34, success: { ok, criteria } })
  }
  expect(words()).toBe('Return 12.3')
  expect(words(criterion('return_mean', 499.7, 475))).toBe('Solved: return 500 of 475')
  expect(words(criterion('solved', 1, 0.9), criterion('harmless', 1, 0.9))).toBe(
    'Solved: solved 100% of 90% (all 2 targets met)',
  )
  expect(words(criterion('won', 1, 0.9), criterion('harmless', 0.5, 0.95))).toBe(
    'Not solved: harmless 50% of 95% (1 of 2 targets met)',
  )
})
