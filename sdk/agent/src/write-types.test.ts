import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentManifest, SpaceDescription } from '@agentgym/contract'
import { afterAll, expect, it } from 'vitest'
import { goodAgent } from '../../../testdata/tarballs/good-agent.ts'
import { writePython, writeTypeScript } from './write-types.ts'

const folder = mkdtempSync(join(tmpdir(), 'agentgym-types-'))
afterAll(() => rmSync(folder, { recursive: true }))

const box = (shape: number[], low: number | null = null, high: number | null = null): SpaceDescription => {
  const size = shape.reduce((a, b) => a * b, 1)
  return { type: 'box', shape, low: Array(size).fill(low), high: Array(size).fill(high) }
}

/** Of an agent that calls tools with arguments, and sees all kinds of spaces. */
const tools: AgentManifest = {
  ...goodAgent,
  scenario: {
    ...goodAgent.scenario,
    observation: {
      type: 'dict',
      entries: [
        { name: 'message', space: { type: 'text', maxTokens: 20, vocabulary: 512 } },
        { name: 'in-stock', space: box([2], 0, 1) },
        { name: 'board', space: box([3, 8, 8]) },
        { name: 'orders', space: { type: 'list', slots: 4, features: 2 } },
        { name: 'day', space: { type: 'discrete', n: 7, start: 1 } },
      ],
    },
    action: {
      type: 'dict',
      choice: 'tool',
      entries: [
        { name: 'tool', space: { type: 'discrete', n: 2, start: 0, labels: ['find', 'refund'] } },
        {
          name: 'refund',
          space: {
            type: 'dict',
            entries: [
              { name: 'order', space: { type: 'discrete', n: 4, start: 0, list: 'orders' } },
              { name: 'percent', space: box([], 0, 100) },
              { name: 'reason', space: { type: 'discrete', n: 2, start: 0, labels: ['broken', 'late "again" */'] } },
            ],
          },
        },
      ],
    },
  },
}

const uses = `
import type { Types } from './types.ts'
const observation: Types['observation'] = {
  message: 'hello', 'in-stock': [0, 1], board: [[[0]]], orders: [{ id: 'a', features: [1, 2] }], day: 3,
}
const mask: Types['mask'] = { tool: [true, false], refund: { order: [true], reason: [true, true] } }
export function handle(choice: Types['choice']): string {
  if (choice.label === 'find') return String(Object.keys(choice.arguments).length)
  const { order, percent, reason } = choice.arguments
  return order + percent.toFixed(1) + reason + JSON.stringify([observation, mask])
}
export const action: Types['action'] = { tool: 1, refund: { order: 'a', percent: 3, reason: 'broken' } }
`

const misuses = `
import type { Types } from './types.ts'
export const unknownTool: Types['choice'] = { label: 'replace', arguments: {} }
export const withoutDay: Types['observation'] = { message: '', 'in-stock': [], board: [], orders: [] }
`

it('in TypeScript hold programs to what the agent takes and gives', () => {
  writeFileSync(join(folder, 'types.ts'), writeTypeScript(tools))
  writeFileSync(join(folder, 'uses.ts'), uses)
  const tsc = join(import.meta.dirname, '../../../node_modules/.bin/tsc')
  const flags = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--allowImportingTsExtensions']
  writeFileSync(join(folder, 'misuses.ts'), misuses)
  const errorsIn = (file: string) =>
    spawnSync(tsc, [...flags, '--types', '', file], { cwd: folder, encoding: 'utf8' }).stdout
  expect(errorsIn('uses.ts')).toBe('')
  const found = errorsIn('misuses.ts')
  expect(found).toContain(`misuses.ts(3,47): error TS2322: Type '"replace"' is not assignable`)
  expect(found).toContain("Property 'day' is missing")
})

it('in Python are classes that Python reads', () => {
  writeFileSync(join(folder, 'types_of_agent.py'), writePython(tools))
  const script = `
import typing, types_of_agent as t
hints = typing.get_type_hints(t.ActionRefund)
print(sorted(t.Observation.__annotations__), typing.get_args(t.Label), sorted(hints), typing.get_args(hints["reason"]))
`
  const printed = execFileSync('python3', ['-c', script], { cwd: folder, encoding: 'utf8' })
  expect(printed.trim()).toBe(
    `['board', 'day', 'in-stock', 'message', 'orders'] ('find', 'refund') ['order', 'percent', 'reason'] ('broken', 'late "again" */')`,
  )
})

it('of an agent without words have none', () => {
  const source = writeTypeScript(goodAgent)
  expect(source).toContain('export type Observation = number[]')
  expect(source).toContain('export type Action = number')
  expect(source).toContain('| { label: null; arguments: null }')
  expect(writePython(goodAgent)).toContain('Label = None')
})
