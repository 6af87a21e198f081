import { expect, it } from 'vitest'
import { findSummaryProblem } from './written-summary.ts'

it.each([
  ['Lands the probe.', undefined],
  ['Agent trained on ice', undefined],
  [undefined, 'package_summary_missing'],
  [null, 'package_summary_missing'],
  [' \n', 'package_summary_missing'],
  ['Agent trained on @acme/cart-pole@1.0.0', 'package_summary_missing'],
  ['[REPLACE: one sentence]', 'package_summary_placeholder'],
  ['Push a puck. [REPLACE: more]', 'package_summary_placeholder'],
])('%j', (summary, code) => {
  expect(findSummaryProblem(summary, 'agent')?.code).toBe(code)
  expect(findSummaryProblem(summary, 'scenario')?.code).toBe(code)
})
