import { AgentGymError } from '@agentgym/contract'
import { expect, it } from 'vitest'
import { EpisodeSamples, isSampleDue } from './episode-samples.ts'

const placeAt = (iteration: number) => ({ iteration, steps: iteration * 10, seconds: iteration })
const sampled = (value: number) => ({ episode: {} as never, return: value, length: 1 })

it('are due at even distances: twelve of a run, or one an iteration', () => {
  const dueOf = (iterations: number) =>
    Array.from({ length: iterations }, (_, i) => i + 1).filter((i) =>
      isSampleDue((i - 1) * 64, i * 64, iterations * 64),
    )
  expect(dueOf(120)).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120])
  expect(dueOf(50)).toHaveLength(12)
  expect(dueOf(3)).toEqual([1, 2, 3])
  // An iteration that plays whole episodes goes beyond the steps of the plan.
  expect(isSampleDue(95, 104, 100)).toBe(true)
})

it('are played one after the other, and left out where they fail', async () => {
  const taken: [number, number][] = []
  let playing = 0
  const samples = new EpisodeSamples<ReturnType<typeof placeAt>>(
    async ([weight]) => {
      expect(playing++).toBe(0)
      await Promise.resolve()
      playing -= 1
      if (weight === 2) throw new AgentGymError({ code: 'scenario_threw', message: 'no' })
      return weight === 3 ? null : sampled(weight)
    },
    ({ return: value }, { iteration }) => void taken.push([iteration, value]),
  )
  for (const i of [1, 2, 3, 4]) samples.add(Float32Array.of(i), placeAt(i))
  await samples.settled()
  expect(taken).toEqual([
    [1, 1],
    [4, 4],
  ])
})

it('take a hundredth of the time of training, and one episode', async () => {
  const taken: number[] = []
  let ms = 0
  const samples = new EpisodeSamples<{ seconds: number }>(
    async () => {
      ms += 25
      return sampled(0)
    },
    (_, { seconds }) => void taken.push(seconds),
    () => ms,
  )
  for (const seconds of [1, 2, 3, 4, 5, 6, 7, 8, 9]) samples.add(Float32Array.of(0), { seconds })
  await samples.settled()
  expect(taken).toEqual([1, 3, 5, 8])
})

it('do not hide a bug', async () => {
  const samples = new EpisodeSamples(
    () => Promise.reject(new TypeError('a bug')),
    () => {},
  )
  samples.add(Float32Array.of(1), placeAt(1))
  await expect(samples.settled()).rejects.toThrow('a bug')
})
