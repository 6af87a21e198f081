import type { Leaderboard, VerificationStatement } from '@agentgym/contract'
import { expect, it } from 'vitest'
import { describeTerminal } from '../terminal/terminal.ts'
import { leaderboardLines, verificationLines } from './server-verification.ts'

function terminalOf(columns: number) {
  const environment = { TERM: 'xterm', LC_ALL: 'C.UTF-8', NO_COLOR: '1' }
  return describeTerminal({ isTTY: true, columns, rows: 24 }, environment, { color: true })
}

const evaluation = {
  ...{ scenario: '@acme/grid@1.0.0', episodes: 100, seed: 1, return_mean: 0.5, return_std: 1, length_mean: 10 },
  ...{ metrics: {}, success: { ok: null, criteria: [] }, trajectory_hash: 'b'.repeat(64) },
}
const hash = 'a'.repeat(64)
const runtime = { node: '24.21.0', arch: 'x64', instructions: 'avx2' }
const statement: VerificationStatement = {
  type: 'agentgym-verification-2',
  ...{ server: 'https://gym.example', key_id: 'k', claim: evaluation, output_hash: hash, runtime },
  agent: { name: '@acme/walker', version: '1.0.0', integrity: 'sha512-', model_hash: hash },
  scenario: { name: '@acme/grid', version: '1.0.0', hash, integrity: 'sha512-' },
  held_out: { ...evaluation, seed: null },
  season: { id: '7', commitment: hash },
  task_set: { split: 'eval', size: 200, fixed: true },
  workers: [
    { id: 'one', owner: null, runtime },
    { id: 'two', owner: 'acme', runtime },
  ],
  verified_at: '2026-11-28T00:00:00.000Z',
}

const linesOf = (signed: VerificationStatement) =>
  verificationLines(
    {
      ...{ state: 'verified', message: null, created_at: signed.verified_at },
      signed: { statement: JSON.stringify(signed), signature: 'c2lnbmF0dXJl', key_id: 'k' },
    },
    terminalOf(120),
  ).join('\n')

it('a verification shows the number of agreeing workers, and a small public task set', () => {
  expect(linesOf(statement)).toContain('2 workers agreed')
  expect(linesOf(statement)).toContain('tasks: fixed set of 200, public')
  expect(linesOf({ ...statement, task_set: { split: 'eval', size: 1e9, fixed: false } })).not.toContain('fixed set')
  const { season: _, task_set: _tasks, workers: _workers, held_out, ...rest } = statement
  const old = { ...rest, type: 'agentgym-verification-1' as const, held_out: { ...held_out, seed: 3 } }
  expect(linesOf(old)).toContain('100 held-out episodes')
})

it('a leaderboard shows interval and attempts, if the server sends them', () => {
  const entry: Leaderboard['entries'][number] = {
    ...{ rank: 1, publisher: 'acme', return_mean: 0.94, return_std: 0.1, length_mean: 10, metrics: {}, success: true },
    ...{ episodes: 100, steps: 1_000, verified_at: statement.verified_at },
    agent: { name: '@acme/walker', version: '1.0.0', title: null, algorithm: 'ppo' },
  }
  const board = (more: object): Leaderboard => ({
    scenario: { name: '@acme/grid', version: '1.0.0' },
    entries: [{ ...entry, ...more }],
    next: null,
  })
  const shown = leaderboardLines(board({ confidence: { low: 0.91, high: 0.97 }, attempts: 12 }), terminalOf(120))
  expect(shown.join('\n')).toMatch(/0\.940* +0\.910* to 0\.970* .* 12 /)
  expect(leaderboardLines(board({}), terminalOf(120)).join('\n')).toMatch(/0\.940* +- /)
})
