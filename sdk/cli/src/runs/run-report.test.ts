import type { Run } from '@agentgym/contract'
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { recordedRun } from '../../test/recorded-run.ts'
import { queuedRun, quietStatus } from '../../test/run-server.ts'
import { runLines } from '../commands/runs.ts'
import { statusLines } from '../commands/status.ts'
import { describeTerminal, type Terminal } from '../terminal/terminal.ts'
import { type RunHistory, runReport } from './run-report.ts'

const { events, result } = recordedRun()
const escapeCode = '\u001b'
const nowMs = Date.parse('2026-11-28T05:00:00Z')

function terminalOf(columns: number, { unicode = true, color = false } = {}): Terminal {
  const environment = { TERM: 'xterm', LC_ALL: unicode ? 'C.UTF-8' : 'C', ...(color ? {} : { NO_COLOR: '1' }) }
  return describeTerminal({ isTTY: true, columns, rows: 24 }, environment, { color: true })
}

const hostile = `x\n${escapeCode}[2J${escapeCode}[31m\u202e${'迷'.repeat(120)}`
const failedRun = queuedRun({
  state: 'failed',
  ahead: null,
  attempt: 3,
  worker: 'gpu-1',
  note: hostile,
  started_at: '2026-11-28T03:00:05.000Z',
  ended_at: '2026-11-28T03:10:05.000Z',
  scenario: { name: `@evil/${hostile}`, version: '1.0.0', hash: 'a'.repeat(64) },
  error: { code: 'scenario_threw', message: `the scenario threw: ${hostile}`, hint: hostile },
})
const completedRun = queuedRun({
  state: 'completed',
  ahead: null,
  attempt: 1,
  worker: 'gpu-1',
  evaluation: result.evaluation,
  cost: { currency: 'EUR', spent_minor: 42, budget_minor: 250, price_minor_per_hour: 249 },
  ended_at: '2026-11-28T03:10:05.000Z',
})
const history: RunHistory = {
  events: [
    { seq: 1, at: '2026-11-28T03:00:00.000Z', type: 'queued', data: { reason: 'submitted', message: null } },
    { seq: 9, at: '2026-11-28T03:05:00.000Z', type: 'queued', data: { reason: 'lease_expired', message: null } },
    { seq: 10, at: '2026-11-28T03:05:01.000Z', type: 'budget_warning', data: { spent_minor: 188, budget_minor: 250 } },
    {
      seq: 11,
      at: '2026-11-28T03:05:02.000Z',
      type: 'failed',
      data: { error: { code: 'scenario_threw', message: hostile } },
    },
  ],
  curve: events.flatMap((event) =>
    event.event === 'progress' && event.return_mean !== null
      ? [{ steps: event.steps, return_mean: event.return_mean }]
      : [],
  ),
}

/** Every line that people see of runs, at one width. */
function everything(terminal: Terminal): string[] {
  const runs: Run[] = [queuedRun(), completedRun, failedRun]
  return [
    ...runs.flatMap((run) => runReport(run, history, terminal, { verbose: true, nowMs })),
    ...runLines(runs, terminal, nowMs),
    ...statusLines('http://localhost:4477', quietStatus, terminal, nowMs),
  ]
}

describe.each([40, 80, 120])('at %i columns', (columns) => {
  it.each([true, false])('untrusted text is escaped (UTF-8: %s)', (unicode) => {
    const text = everything(terminalOf(columns, { unicode })).join('\n')
    expect(text).not.toContain(escapeCode)
    expect(text).not.toContain('\u202e')
  })

  it('tables, curve and status fit', () => {
    const terminal = terminalOf(columns)
    const lines = [
      ...runLines([queuedRun(), failedRun], terminal, nowMs),
      ...statusLines('http://localhost:4477', quietStatus, terminal, nowMs).slice(0, -1),
      ...runReport(failedRun, { ...history, events: [] }, terminal, { verbose: false, nowMs }),
    ]
    for (const line of lines) expect(stringWidth(line), line).toBeLessThanOrEqual(columns)
  })
})

describe('a run in full', () => {
  const report = (run: Run) => runReport(run, history, terminalOf(80), { verbose: false, nowMs }).join('\n')

  it('shows result, cost and events', () => {
    const text = report(completedRun)
    for (const word of [
      '✓ completed',
      '€0.42 of €2.50, at €2.49 per hour',
      'target 475 dashed',
      'Every target reached on 100 held-out episodes',
      'Lost contact with its worker; queued again',
      '75% of the budget used: €1.88 of €2.50',
      '2 h ago',
    ])
      expect(text).toContain(word)
    expect(text).toMatch(/[\u2801-\u28ff]{5}/)
  })

  it('of a failed run shows the reason first, with the code', () => {
    const lines = report(failedRun).split('\n')
    expect(lines[0]).toBe('Run 4f0c1d2e · ✗ failed')
    expect(lines.join('\n')).toContain('scenario_threw')
    expect(lines.join('\n')).toContain('gpu-1 (attempt 3)')
  })
})

describe('status', () => {
  it('shows queue, load, prices and silent workers', () => {
    const text = statusLines('http://localhost:4477', quietStatus, terminalOf(80), nowMs).join('\n')
    expect(text).toContain('http://localhost:4477 · 1 worker')
    expect(text).toMatch(/^training +2 +3$/m)
    expect(text).toMatch(/^gpu-1 +busy +2 of 4 +€2\.49$/m)
    expect(text).toContain('CPU ━━━━━───  62% of 16 cores')
    expect(text).toContain('91% of 2 x NVIDIA H100, 80 GiB')
    expect(text).toMatch(/^laptop +silent 3 h +0 of 1 +free$/m)
    expect(text).toContain('Your runs: 1 running, 1 queued')
  })

  it('explains what to do without workers', () => {
    const text = statusLines('http://localhost', { ...quietStatus, workers: [] }, terminalOf(80), nowMs).join('\n')
    expect(text).toContain('No workers')
    expect(text).toContain('agentgym worker')
  })
})
