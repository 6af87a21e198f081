import type { TaskOrder } from '@agentgym/contract'
import { evaluateAgent } from '@agentgym/runtime'
import { afterAll, describe, expect, test } from 'vitest'
import { goodModel } from '../../../testdata/models/good-models.ts'
import { agentFor } from '../agent-fixture.ts'
import { removeFixtures, scenarioOf } from '../scenario-fixture.ts'

afterAll(removeFixtures)

/** Everything comes from the task, as in a scenario of puzzles; `luck` adds a draw of the episode's own. */
const puzzles = (tasks: string, luck = '0') => `
  observation: box({ shape: [2] }), action: discrete({ n: 2 }), maxSteps: 5, ${tasks}
  reset: ({ rng, task }) => ({ count: 0, puzzle: (task.index % 1000) / 1000 + ${luck} }),
  step(state, action) { state.count += 1; return { reward: state.puzzle + action, terminated: false } },
  observe: (state) => [state.count, state.puzzle],`

async function evaluator(definition: string) {
  const scenario = await scenarioOf(definition)
  const agent = agentFor(scenario, goodModel())
  return (seed: number, taskOrder?: TaskOrder) => evaluateAgent({ agent, scenario, episodes: 20, seed, taskOrder })
}

describe.concurrent('held-out tasks', () => {
  test('the seed decides which tasks are played, seeds of more than 32 bits included', async () => {
    const play = await evaluator(puzzles('tasks: { train: 10, eval: 1_000_000_000 },'))
    const seeds = [1, 987_654_321, 2 ** 32 + 1, 2 ** 53 - 1]
    const played = await Promise.all(seeds.map((seed) => play(seed)))
    expect(new Set(played.map((evaluation) => evaluation.trajectory_hash)).size).toBe(seeds.length)
    expect(played.map(({ seed }) => seed)).toEqual(seeds)
    expect(played[0].tasks).toEqual({ split: 'eval', size: 1_000_000_000, order: 'drawn' })
    expect(await play(1)).toEqual(played[0])
  })

  test('a claim of an older version, whose tasks are numbered, is reproduced to the bit', async () => {
    const play = await evaluator(puzzles('tasks: { train: 10, eval: 7 },', 'rng()'))
    const claim = await play(987_654_321, 'numbered')
    // Computed by version 0.1, which knew no other order.
    expect(claim.trajectory_hash).toBe('ddb2b88bd0ba90afa7ccc5577287f5f57a7227fd6605ecc581aa6319c9eacddf')
    expect(claim.tasks).toEqual({ split: 'eval', size: 7, order: 'numbered' })
    expect((await play(987_654_321)).trajectory_hash).not.toBe(claim.trajectory_hash)
  })

  test('levels take turns and are reported on their own; the same episodes without levels are the same to the bit', async () => {
    const definition = puzzles('tasks: { train: 10, eval: 1_000_000_000 },', 'rng()')
    const plain = await (await evaluator(definition))(987_654_321)
    // Computed before there were levels.
    expect(plain.trajectory_hash).toBe('bb499d90a38bceeded7af2017ef412c64a504be3ddce3f3659a3f8f7b9c6617c')
    expect(plain).not.toHaveProperty('levels')
    const levels = "levels: [{ name: 'low' }, { name: 'high', description: 'Pays more' }, { name: 'highest' }],"
    const named = await (await evaluator(`${levels}${definition}`))(987_654_321)
    expect(named).toMatchObject({ trajectory_hash: plain.trajectory_hash, return_mean: plain.return_mean })
    const graded = await (
      await evaluator(
        `${levels}${definition.replace('(state, action)', '(state, action, { level })').replace('reward: ', 'reward: 100 * level + ')}`,
      )
    )(987_654_321)
    const base = named.levels?.map(({ return_mean }) => return_mean ?? Number.NaN) ?? []
    expect(graded.levels?.map(({ name, episodes }) => [name, episodes])).toEqual([
      ['low', 7],
      ['high', 7],
      ['highest', 6],
    ])
    graded.levels?.forEach(({ return_mean }, i) => {
      expect(return_mean).toBeCloseTo(base[i] + 500 * i, 3)
    })
  })

  test('an evaluation says so where it plays the tasks of training, and nothing where there are none', async () => {
    const trained = await evaluator(puzzles('tasks: { train: 10 },'))
    expect((await trained(3)).tasks).toEqual({ split: 'train', size: 10, order: 'drawn' })
    const free = await evaluator(puzzles('', 'rng()'))
    expect((await free(3)).tasks).toBeUndefined()
  })
})
