import { describe, expect, test } from 'vitest'
import { describeTerminal } from '../terminal/terminal.ts'
import { diffLines } from './scenario-diff.ts'
import { doctorLines } from './scenario-doctor.ts'
import { profileLines } from './scenario-profile.ts'

const terminal = (columns: number) => describeTerminal({ columns }, { LANG: 'C.UTF-8' }, { color: false })
const hash = '0'.repeat(64)

describe.each([80, 120])('in %d columns', (columns) => {
  const fits = (lines: string[]) => {
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(columns)
    return lines.join('\n')
  }

  test('the doctor shows players, findings with evidence and fix, and a summary', () => {
    const player = { return_mean: 12.5, length_mean: 10, truncated: 0, metrics: {}, episodes: 96 }
    const text = fits(
      doctorLines(
        {
          seed: 1,
          players: [
            { ...player, player: 'random actions', meets_success: false },
            { ...player, player: 'the oracle', meets_success: true },
          ],
          findings: [
            {
              id: 'reward_hacking',
              severity: 'problem',
              message:
                'always action 2 return 20, more than the oracle\u2019s 12.5, and miss the success criteria. '.repeat(
                  2,
                ),
              fix: 'Pay more for the result.',
              evidence: { return_mean: 20, seed: 1, solved: null },
            },
          ],
          not_shown: ['greedy: no whole episode in the time for it'],
        },
        terminal(columns),
      ),
    )
    expect(text).toMatch(/the oracle +12\.50 +10 +yes +96/)
    expect(text).toMatch(/✗ reward_hacking/)
    expect(text).toMatch(/return_mean 20, seed 1, solved none/)
    expect(text).toMatch(/✗ 1 problem$/)
  })

  test('a diff shows changes by kind and the verdict', () => {
    const version = (number: string) => ({ name: '@acme/maze', version: number, hash })
    const changes = {
      ...{ old: version('1.0.0'), new: version('1.0.1'), compared_steps: 6_400 },
      ...({ needed: 'minor', declared: 'patch', ok: false } as const),
      changes: [{ kind: 'reward', message: 'reward: 1 → 2 at a step far into an episode' } as const],
    }
    const text = fits(diffLines(changes, ({ message }) => message, terminal(columns)))
    expect(text).toMatch(/rewards +reward: 1 → 2/)
    expect(text).toMatch(/✗ These changes need a minor version, and this is a patch/)
    const same = { ...changes, changes: [], needed: 'none' as const, ok: true }
    expect(fits(diffLines(same, String, terminal(columns)))).toMatch(/✓ Every one of 6,400 compared steps is the same/)
  })

  test('a profile shows speed, phases as bars and functions with places', () => {
    const text = fits(
      profileLines(
        {
          ...{ seed: 1, steps: 64_000, episodes: 0, seconds: 1, steps_per_second: 64_000, bytes_per_step: 2_048 },
          ...{ samples: 1_900, collections: 1 },
          phases: [{ phase: 'step', share: 0.5, bytes_per_step: 1_024 }],
          functions: [
            { name: 'countPrimes', file: 'src/primes.ts', line: 2, self: 0.4, total: 0.5, bytes_per_step: 12 },
          ],
        },
        terminal(columns),
      ),
    )
    expect(text).toMatch(/64,000 steps a second/)
    expect(text).toMatch(/step +━{12}─{12} +50\.0%/)
    expect(text).toMatch(/countPrimes +40\.0% +50\.0%/)
    expect(text).toMatch(/No episode ended/)
  })
})
