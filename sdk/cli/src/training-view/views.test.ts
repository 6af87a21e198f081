import {
  type Calibration,
  type Comparison,
  type ResultEvent,
  reliabilityOf,
  type TrainingEvent,
  trainingEventSchema,
} from '@agentgym/contract'
import { renderToString } from 'ink'
import { createElement } from 'react'
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { recordedPlan, recordedRun } from '../../test/recorded-run.ts'
import { describeTerminal, type Terminal } from '../terminal/terminal.ts'
import { Dashboard } from './dashboard.ts'
import { jsonView, plainView } from './line-views.ts'
import { liveBlock } from './live-view.ts'
import type { TrainingPlan } from './run-state.ts'
import { advanceRunState, type RunState, startRunState } from './run-state.ts'
import { evaluationLines, planLines, resultLines } from './summary-lines.ts'

const { events, result } = recordedRun()
const escapeCode = '\u001b'

function terminalOf(columns: number, { unicode = true, color = false } = {}): Terminal {
  const environment = { TERM: 'xterm', LC_ALL: unicode ? 'C.UTF-8' : 'C', ...(color ? {} : { NO_COLOR: '1' }) }
  return describeTerminal({ isTTY: true, columns, rows: 24 }, environment, { color: true })
}

function stateAfter(share: number, plan: TrainingPlan = recordedPlan): RunState {
  return events.slice(0, Math.floor(events.length * share)).reduce(advanceRunState, startRunState(plan))
}

const hostilePlan: TrainingPlan = {
  ...recordedPlan,
  scenario: `@evil/${escapeCode}[2J${'x'.repeat(500)}@1.0.0`,
  success: { [`solved\n${escapeCode}[31m${'迷'.repeat(200)}`]: 1, return_mean: 475 },
}

describe.each([40, 80, 120])('at %i columns', (columns) => {
  it.each([0, 0.01, 0.5, 1])('the live block fits (%f of the run)', (share) => {
    for (const unicode of [true, false]) {
      const lines = liveBlock(stateAfter(share), terminalOf(columns, { unicode }), columns - 1, false)
      for (const line of lines) expect(stringWidth(line)).toBeLessThan(columns)
      const text = lines.join('\n')
      expect(text).not.toContain(escapeCode)
      if (!unicode) expect([...text].filter((character) => character > '\u007f')).toEqual([])
      if (share === 0.5) expect(text).toContain('/ 99,328 steps')
    }
  })

  it('the live block fits with color and untrusted names', () => {
    const lines = liveBlock(stateAfter(0.5, hostilePlan), terminalOf(columns, { color: true }), columns - 1, false)
    for (const line of lines) expect(stringWidth(line)).toBeLessThan(columns)
    expect(lines.join('')).toContain(`${escapeCode}[32m`)
    expect(lines.join('')).not.toContain(`${escapeCode}[31m`)
  })

  it.each([12, 24, 50])('the dashboard fills %i rows and no more', (rows) => {
    for (const plan of [recordedPlan, hostilePlan, { ...recordedPlan, success: {} }]) {
      for (const share of [0, 0.01, 0.5, 1]) {
        const state = stateAfter(share, plan)
        const props = { state, terminal: terminalOf(columns), columns, rows, stopping: false }
        const lines = renderToString(createElement(Dashboard, props), { columns }).split('\n')
        expect(lines.length).toBeLessThanOrEqual(rows)
        for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(columns)
        expect(lines.join('\n')).not.toContain(escapeCode)
      }
    }
  })
})

describe('the dashboard at 80 × 24', () => {
  const draw = (state: RunState, stopping = false) =>
    renderToString(createElement(Dashboard, { state, terminal: terminalOf(80), columns: 80, rows: 23, stopping }), {
      columns: 80,
    })

  it('shows the metric against its target, the throughput, every loss and the log', () => {
    const screen = draw(stateAfter(0.6))
    for (const word of [
      '@agentgym/cart-pole@1.0.0',
      'steps/s',
      'left',
      'Metric',
      'current',
      'target',
      'status',
      'below',
    ])
      expect(screen).toContain(word)
    for (const loss of [
      'policy loss',
      'value loss',
      'entropy',
      'approximate KL',
      'clip fraction',
      'explained variance',
    ])
      expect(screen).toContain(loss)
    expect(screen).toContain('q close')
    expect(screen).toMatch(/[\u2801-\u28ff]{5}/)
  })

  it('shows what it waits for', () => {
    expect(draw(stateAfter(0))).toContain('Starting the sandbox')
    expect(draw(stateAfter(0.5), true)).toContain('Stopping; writing the checkpoint')
    expect(draw(stateAfter(1))).toContain('Evaluating on held-out episodes')
  })
})

describe('plain lines', () => {
  function lines(msPerEvent: number, verbose = false): string[] {
    const written: string[] = []
    let now = 0
    const view = plainView({ terminal: terminalOf(80), verbose, write: (line) => written.push(line), now: () => now })
    view.start(recordedPlan)
    for (const event of events) {
      now += msPerEvent
      view.event(event)
    }
    view.finish(result, { out: 'agents/cart-pole' })
    return written
  }

  it('show the plan first, next steps last, and are few', () => {
    const written = lines(20)
    expect(written[0]).toBe('→ Training on @agentgym/cart-pole@1.0.0 with ppo, 100,000 steps, seed 1')
    expect(written[1]).toContain('agents/cart-pole')
    expect(written.at(-1)).toBe('→ Evaluate it: agentgym eval agents/cart-pole')
    const progressLines = written.filter((line) => /^ *\d+%/.test(line))
    expect(progressLines.length).toBeGreaterThanOrEqual(2)
    expect(progressLines.length).toBeLessThanOrEqual(Math.ceil((events.length * 20) / 3000) + 2)
    expect(progressLines.at(-1)).toMatch(/^100%/)
  })

  it('show the defaults in use, except those set by the scenario', () => {
    const settings = { ...recordedPlan.settings, gamma: 0.995, hidden: [128, 128], embedding: 32 }
    const plan = { ...recordedPlan, settings, defaults: ['embedding', 'hidden', 'gamma'] }
    const terminal = terminalOf(80)
    expect(planLines(plan, terminal, false).at(-1)).toBe('  Not set, so by default: gamma 0.995 · hidden 128,128')
    expect(planLines({ ...plan, defaults: ['embedding'] }, terminal, false)).toHaveLength(2)
  })

  it('show what a run chose, and what may keep it from learning', () => {
    const written: string[] = []
    const view = plainView({
      terminal: terminalOf(80),
      verbose: false,
      write: (line) => written.push(line),
      now: () => 0,
    })
    view.start({ ...recordedPlan, settings: { gamma: null }, defaults: ['gamma'] })
    expect(written.join('\n')).not.toContain('gamma')
    const measured = { steps: 4096, reward_spacing: 1.6, episode_length: 200, terminated: false }
    view.event({ event: 'defaults', settings: { gamma: 0.98 }, reason: 'dense rewards', measured })
    view.event({ event: 'notice', message: 'the policy has no memory', hint: 'Use PPO.' })
    expect(written.slice(-2)).toEqual([
      '  Chosen for this scenario: gamma 0.98: dense rewards',
      expect.stringContaining('The policy has no memory. Use PPO.'),
    ])
  })

  it('show settings with --verbose', () => {
    expect(lines(20, true).join('\n')).toContain('learning_rate = 0.001')
  })
})

describe('JSON lines', () => {
  it('are events of the contract, with one result at the end', () => {
    const written: string[] = []
    const view = jsonView((line) => written.push(line))
    view.start(recordedPlan)
    for (const event of events) view.event(event)
    view.finish(result, { out: 'agents/cart-pole' })
    const parsed: TrainingEvent[] = written.map((line) => trainingEventSchema.parse(JSON.parse(line)))
    expect(parsed).toEqual(events)
  })
})

describe('the result', () => {
  const withSuccess = (
    ok: boolean | null,
    criteria: ResultEvent['evaluation']['success']['criteria'],
  ): ResultEvent => ({
    ...result,
    evaluation: { ...result.evaluation, episodes: 100, return_mean: 311.25, return_std: 20, success: { ok, criteria } },
  })

  it('shows every criterion with its value', () => {
    const lines = resultLines(
      withSuccess(false, [
        { metric: 'tool_reliability', target: 0.95, value: 0.97, ok: true },
        { metric: 'cost_reduction', target: 0.3, value: null, ok: false },
      ]),
      terminalOf(80),
      { out: 'agents/cart-pole' },
    )
    expect(lines[0]).toBe('! 1 of 2 targets missed on 100 held-out episodes: mean return 311.3 (sd 20)')
    expect(lines[1]).toBe('  ✓ tool_reliability 0.9700, target 0.95, reached')
    expect(lines[2]).toBe('  ✗ cost_reduction -, target 0.3, missed')
    expect(lines.join()).not.toContain('memory')
  })

  it('shows a row for each level, with the metrics of the criteria', () => {
    const levels: ResultEvent['evaluation']['levels'] = [
      { name: 'random', episodes: 50, return_mean: 0.9, metrics: { won: 1, stones: 12 } },
      { name: `sea${escapeCode}[2Jrch`, episodes: 50, return_mean: null, metrics: {} },
    ]
    const shown = withSuccess(true, [
      { metric: 'won', target: 0.5, value: 0.6, ok: true },
      { metric: 'return_mean', target: 0, value: 1, ok: true },
    ])
    const evaluation = { ...shown.evaluation, levels }
    for (const lines of [
      resultLines({ ...shown, evaluation }, terminalOf(80), { out: 'agents/x' }),
      evaluationLines(evaluation, terminalOf(80)),
    ]) {
      const at = lines.findIndex((line) => line.startsWith('  Level'))
      expect(lines[at]).toMatch(/^ {2}Level +Episodes +Return +won$/)
      expect(lines[at + 1]).toMatch(/^ {2}random +50 +0\.9\d* +1$/)
      expect(lines[at + 2]).toMatch(/^ {2}sea\\x1b\[2Jrch +50 +- +-$/)
    }
  })

  it('notes that a policy without memory missed a target', () => {
    const missed = withSuccess(false, [{ metric: 'solved', target: 0.95, value: 0.5, ok: false }])
    const linesOf = (memory: boolean) => resultLines({ ...missed, memory }, terminalOf(80), { out: 'agents/maze' })
    expect(linesOf(false)[2]).toMatch(/^ {2}The policy has no memory: .* --set memory=gru\.$/)
    expect(linesOf(true).join()).not.toContain('no memory')
  })

  it('claims no success without targets', () => {
    expect(resultLines(withSuccess(null, []), terminalOf(80), { out: 'agents/cart-pole' })[0]).toContain(
      'the scenario has no targets',
    )
  })
})

it('shows what players without training reach on the same episodes', () => {
  const player = { return_mean: -146.5, length_mean: 9, metrics: { solved: 0.07 }, success: false }
  const baselines = [
    { ...player, player: 'random' as const },
    { ...player, player: 'rules' as const, return_mean: 58.8, metrics: { solved: 0.98 }, success: true },
  ]
  const evaluation = { ...result.evaluation, metrics: { solved: 1 }, baselines }
  const lines = evaluationLines(evaluation, terminalOf(120))
  const at = lines.findIndex((line) => line.includes('On the same episodes'))
  expect(lines.slice(at + 1, at + 4).map((line) => line.trim().split(/ {2,}/))).toEqual([
    ['This agent', '100%', expect.any(String), 'met'],
    ['Random choices', '7%', '-146.5', 'missed'],
    ['Keyword rules of the scenario', '98%', '58.80', 'met'],
  ])
})

it('shows a language model that was measured beside them, and what decisions take', () => {
  const measured = { return_mean: -16.25, return_interval: [-20, -12] as [number, number], success: false }
  const solved = { share: 0.06, interval: [0.02, 0.16] as [number, number] }
  const comparison: Comparison = {
    ...{ episodes: 50, seed: 7, processor: 'A processor', core_price: 0.05 },
    language_model: { name: 'Small', sha256: 'a'.repeat(64), engine: 'engine 1.0.0', tokens_per_decision: 90 },
    players: [
      { ...measured, player: 'agent', decisions: 300, decision_ms: 0.0214 },
      { ...measured, player: 'language_model', decisions: 400, decision_ms: 163, solved },
    ],
  }
  const lines = evaluationLines({ ...result.evaluation, metrics: { solved: 1 } }, terminalOf(120), comparison)
  const at = lines.findIndex((line) => line.includes('Player'))
  expect(lines.slice(at, at + 3).map((line) => line.trim().split(/ {2,}/))).toEqual([
    ['Player', 'Solved', 'Return', 'Targets', 'Decision', 'Per million'],
    ['This agent', '100%', expect.any(String), 'met', '21 µs', '$0.00030'],
    ['Small, zero-shot', '6% (2% to 16%)', '-16.25', 'missed', '163 ms', '$2.3'],
  ])
  expect(
    lines
      .slice(at + 3)
      .join(' ')
      .replace(/\s+/g, ' '),
  ).toMatch(/50 held-out episodes of seed 7.*\(A processor\)/)
})

it('shows what probabilities mean, and what confidence does for an agent that has it', () => {
  const reliability = (predicted: number) =>
    reliabilityOf(Array.from({ length: 100 }, (_, i) => ({ predicted, succeeded: i < 91 })))
  const measured = { choices: 100, succeeded: 91, probability: reliability(0.98) }
  const linesOf = (calibration: Calibration) => evaluationLines({ ...result.evaluation, calibration }, terminalOf(120))
  expect(linesOf({ ...measured, confidence: reliability(0.9) })).toEqual(
    expect.arrayContaining([
      '  confidence says 90%, right in 91%, expected calibration error 1.0%',
      '  raw probability says 98%, right in 91%, expected calibration error 7.0%',
    ]),
  )
  expect(linesOf({ ...measured, confidence: null })).toContain(
    '  probability (not calibrated) says 98%, right in 91%, expected calibration error 7.0%',
  )
})
