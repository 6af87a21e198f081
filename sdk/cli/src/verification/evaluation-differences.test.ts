import type { Evaluation } from '@agentgym/contract'
import { describe, expect, it } from 'vitest'
import { differenceText, differingFields } from './evaluation-differences.ts'

const evaluation: Evaluation = {
  scenario: '@acme/desk@1.0.0',
  episodes: 100,
  seed: 7,
  return_mean: 0.1 + 0.2,
  return_std: 1,
  length_mean: 20,
  metrics: { solved: 1 },
  success: { ok: true, criteria: [] },
  trajectory_hash: 'a'.repeat(64),
}

describe('differingFields', () => {
  it('treats an evaluation as equal to itself, also after JSON', () => {
    expect(differingFields(evaluation, JSON.parse(JSON.stringify(evaluation)))).toEqual([])
  })

  it.each<[string, Partial<Evaluation>]>([
    ['return_mean', { return_mean: 0.3 }],
    ['return_std', { return_std: null }],
    ['episodes', { episodes: 99 }],
    ['seed', { seed: 8 }],
    ['trajectory_hash', { trajectory_hash: 'b'.repeat(64) }],
    ['metrics.solved', { metrics: {} }],
    ['metrics.toString', { metrics: { solved: 1, toString: 1 } as never }],
  ])('sees the last bit of %s', (field, change) => {
    expect(differingFields(evaluation, { ...evaluation, ...change })).toMatchObject([{ field }])
  })

  const row = (name: string, solved: number) => ({ name, episodes: 50, return_mean: 0.3, metrics: { solved } })
  const levels = [row('easy', 1), row('hard', 1)]
  it.each<[string, Evaluation['levels'], Evaluation['levels']]>([
    ['levels.1.metrics.solved', levels, [levels[0], row('hard', 0.99)]],
    ['levels.0.name', levels, [row('simple', 1), levels[1]]],
    ['levels.1.return_mean', levels, [levels[0], { ...levels[1], return_mean: null }]],
  ])('sees a difference in %s, and levels that only one has', (field, expected, found) => {
    const whole = { ...evaluation, levels: expected }
    expect(differingFields(whole, JSON.parse(JSON.stringify(whole)))).toEqual([])
    expect(differingFields(whole, { ...evaluation, levels: found })).toMatchObject([{ field }])
    for (const one of [differingFields(whole, evaluation), differingFields(evaluation, whole)]) {
      expect(one.map((difference) => difference.field)).toContain('levels.0.name')
    }
  })

  it('treats the same bundle under another name as the same scenario', () => {
    expect(differingFields(evaluation, { ...evaluation, scenario: '@bob/desk@2.0.0' })).toEqual([])
  })

  it('names differing versions, and escapes untrusted text', () => {
    const found = { ...evaluation, return_mean: 0.3 }
    const text = differenceText(
      differingFields(evaluation, found),
      { onnxruntime: '1.29.0\u001b[2J', node: '24.0.0' },
      { onnxruntime: '1.30.0', node: '24.0.0' },
    )
    expect(text).toContain('return_mean is 0.3 here, not 0.30000000000000004')
    expect(text).toContain('onnxruntime 1.29.0\\x1b[2J there, 1.30.0 here')
    expect(text).not.toContain('node')
  })
})
