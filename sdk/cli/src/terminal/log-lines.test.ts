import type { ScenarioLogs } from '@agentgym/contract'
import { expect, it } from 'vitest'
import { logLines } from './log-lines.ts'
import { describeTerminal } from './terminal.ts'

const terminal = describeTerminal(
  { isTTY: true, columns: 60, rows: 24 },
  { TERM: 'xterm', NO_COLOR: '1' },
  { color: false },
)
const entry = (step: number, text = `at ${step}`): ScenarioLogs['entries'][number] => ({
  ...{ level: 'log', phase: 'step', environment: 3, episode: 0, step, text },
})

it('names the place of each call, and wraps long texts below it', () => {
  const entries = [{ level: 'info', phase: 'load', text: 'loading' } as const, entry(17, 'word '.repeat(12).trim())]
  expect(logLines({ calls: 2, entries }, terminal, 20)).toEqual([
    '  | load  loading',
    '  | step 17 of environment 3  word word word word word word',
    `  | ${' '.repeat(24)}  word word word word word word`,
  ])
})

it('says how many calls it leaves out, and where', () => {
  const kept = Array.from({ length: 100 }, (_, i) => entry(i < 50 ? i + 1 : 901 + i))
  const lines = logLines({ calls: 1_000, entries: kept }, terminal, 4)
  expect(lines.map((line) => line.replace(' of environment 3', ''))).toEqual([
    '  | step 1  at 1',
    '  | step 2  at 2',
    expect.stringContaining('996 more'),
    '  | step 999  at 999',
    '  | step 1000  at 1000',
  ])
  expect(logLines({ calls: 1_000, entries: kept }, terminal, 100)).toHaveLength(101)
  expect(logLines({ calls: 3, entries: kept.slice(0, 3) }, terminal, 4)).toHaveLength(3)
})

it('shows no escape sequence of a scenario', () => {
  expect(logLines({ calls: 1, entries: [entry(1, '\u001b[2Jgone')] }, terminal, 4).join('')).not.toContain('\u001b')
})
