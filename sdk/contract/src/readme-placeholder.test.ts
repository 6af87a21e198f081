import { expect, it } from 'vitest'
import { findReadmePlaceholder } from './readme-placeholder.ts'

it.each([
  ['# Maze\n\n[REPLACE: what does the agent learn?]\n', { line: 3, text: '[REPLACE: what does the agent learn?]' }],
  ['# Maze\r\n- Reward: [REPLACE: when]. More.\r\n', { line: 2, text: '[REPLACE: when]' }],
  ['[REPLACE: over\nlines]', { line: 1, text: '[REPLACE: over' }],
  [`[REPLACE: ${'x'.repeat(500)}]`, { line: 1, text: `[REPLACE: ${'x'.repeat(110)}` }],
  ['~~~\ncode\n~~~\n[REPLACE: after]', { line: 4, text: '[REPLACE: after]' }],
  ['# Maze\n\nREPLACE: add levels. [REPLACE](https://example.com)', undefined],
  ['```md\n[REPLACE: in code]\n```\nAnd `[REPLACE: in a span]`.', undefined],
  ['', undefined],
])('%j', (readme, found) => {
  expect(findReadmePlaceholder(readme)).toEqual(found)
})
