import { describe, expect, it } from 'vitest'
import { EpisodeHash, type EpisodeOutcome, trajectoryHash } from './play-episodes.ts'
import { isBetter, isClearSuccess, judgeSuccess, summarize } from './summarize.ts'

const run = {
  scenario: { name: 'x', version: '1.0.0', hash: '0' },
  seed: 0,
  tasks: null,
  levels: null,
  success: { return_mean: 2, solved: 0.9 },
}
const digest = new Uint8Array(32)

describe('summarize', () => {
  it('takes means over episodes and holds them against the criteria', () => {
    const evaluation = summarize(
      [
        { return: 1, length: 10, metrics: { solved: 1 }, digest },
        { return: 5, length: 20, metrics: { solved: 0 }, digest },
      ],
      run,
    )
    expect(evaluation).toMatchObject({ return_mean: 3, return_std: 2, length_mean: 15, metrics: { solved: 0.5 } })
    expect(evaluation.success.ok).toBe(false)
    expect(evaluation.success.criteria.map((criterion) => criterion.ok)).toEqual([true, false])
  })

  it('takes means by level: episode e is of level e modulo their number', () => {
    const episode = (total: number, solved?: number): EpisodeOutcome => ({
      ...{ return: total, length: 1, digest, metrics: solved === undefined ? {} : { solved } },
    })
    const outcomes = [episode(1, 1), episode(5, 0), episode(9), episode(3, 0), episode(7, 0)]
    expect(summarize(outcomes, { ...run, levels: ['a', 'b', 'c'] }).levels).toEqual([
      { name: 'a', episodes: 2, return_mean: 2, metrics: { solved: 0.5 } },
      { name: 'b', episodes: 2, return_mean: 6, metrics: { solved: 0 } },
      { name: 'c', episodes: 1, return_mean: 9, metrics: {} },
    ])
    expect(summarize(outcomes.slice(0, 1), { ...run, levels: ['a', 'b'] }).levels?.[1]).toEqual({
      ...{ name: 'b', episodes: 0, return_mean: null, metrics: {} },
    })
    expect(summarize(outcomes, run)).not.toHaveProperty('levels')
  })

  it('gives null, never NaN, for no episode', () => {
    const evaluation = summarize([], run)
    expect(evaluation).toMatchObject({ return_mean: null, return_std: null, length_mean: null, metrics: {} })
    expect(JSON.parse(JSON.stringify(evaluation))).toEqual(evaluation)
  })

  it('counts a metric that was never reported as missed, even one named like a property of every object', () => {
    expect(judgeSuccess({ constructor: 0 }, 1, {}).ok).toBe(false)
    expect(judgeSuccess({}, 1, {}).ok).toBe(null)
  })
})

describe('isClearSuccess', () => {
  const episodes = (solved: number, of: number) =>
    Array.from({ length: of }, (_, i) => ({ return: 5, length: 1, metrics: { solved: i < solved ? 1 : 0 }, digest }))
  it('asks for two standard errors to spare, and for none where all episodes are alike', () => {
    // The standard error of 97 % of 100 is 1.7 %, that of 98 % is 1.4 %.
    expect(isClearSuccess(episodes(97, 100), { solved: 0.95 })).toBe(false)
    expect(isClearSuccess(episodes(98, 100), { solved: 0.95, return_mean: 5 })).toBe(true)
    expect(isClearSuccess(episodes(9_530, 10_000), { solved: 0.95 })).toBe(false)
    expect(isClearSuccess(episodes(9_550, 10_000), { solved: 0.95 })).toBe(true)
    expect(isClearSuccess(episodes(1, 1), { solved: 1 })).toBe(true)
    expect(isClearSuccess(episodes(1, 1), { other: 0 })).toBe(false)
    expect(isClearSuccess([], { solved: 0 })).toBe(false)
    expect(isClearSuccess(episodes(1, 1), {})).toBe(null)
  })
})

describe('isBetter', () => {
  const reached = (value: number) => summarize([{ return: value, length: 1, metrics: { solved: 1 }, digest }], run)
  it('prefers criteria met, then the smaller shortfall, then the return', () => {
    expect(isBetter(reached(2), reached(1))).toBe(true)
    expect(isBetter(reached(1), reached(0.5))).toBe(true)
    expect(isBetter(reached(4), reached(3))).toBe(true)
    expect(isBetter(reached(3), reached(3))).toBe(false)
    expect(isBetter(reached(0), summarize([], run))).toBe(true)
    expect(isBetter(summarize([], run), reached(0))).toBe(false)
  })
})

describe('trajectory hash', () => {
  const play = (actions: number[], number = 0, flags = 1) => {
    const hash = new EpisodeHash(1)
    for (const action of actions) hash.step(Float32Array.of(9, action), Float32Array.of(0, 1), 1)
    return hash.end(number, flags)
  }
  it('depends on every action, the length, the number and the end, not on block borders', () => {
    const long = Array.from({ length: 1500 }, (_, i) => i % 7)
    const variants = [play(long), play([...long, 0]), play(long.slice(1)), play(long, 1), play(long, 0, 2)]
    expect(new Set(variants.map((variant) => Buffer.from(variant).toString('hex'))).size).toBe(5)
    expect(play(long)).toEqual(play(long))
    expect(trajectoryHash([play([1]), play([2])])).not.toBe(trajectoryHash([play([2]), play([1])]))
  })
})
