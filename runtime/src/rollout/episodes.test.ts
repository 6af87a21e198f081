import { TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EpisodeRecorder } from './episodes.ts'

/** A recorder that keeps one growing list an environment, to hold the real one to. */
class PlainRecorder {
  readonly lists: number[][]
  readonly episodes: number[]

  constructor(environments: number) {
    this.lists = Array.from({ length: environments }, () => [])
    this.episodes = this.lists.map(() => 0)
  }

  record(actions: Float32Array, ends: boolean[], size: number): void {
    ends.forEach((ended, i) => {
      this.lists[i].push(...actions.subarray(i * size, (i + 1) * size))
      if (ended) {
        this.lists[i] = []
        this.episodes[i] += 1
      }
    })
  }
}

test('snapshots hold the actions since each running episode began', () => {
  const run = fc.record({
    environments: fc.integer({ min: 1, max: 4 }),
    size: fc.integer({ min: 1, max: 3 }),
    // One number a step; an environment's episode ends where it is divisible by (number of the environment + 2).
    steps: fc.array(fc.nat(1000), { maxLength: 400 }),
    restoreAt: fc.nat(400),
  })
  fc.assert(
    fc.property(run, ({ environments, size, steps, restoreAt }) => {
      const plain = new PlainRecorder(environments)
      let recorder = new EpisodeRecorder(environments, size)
      const expected = () =>
        plain.lists.map((list, i) => ({
          environment: 10 + i,
          episode: plain.episodes[i],
          actions: Float32Array.from(list),
        }))
      steps.forEach((number, t) => {
        const actions = Float32Array.from({ length: environments * size }, (_, i) => number * 100 + i)
        const ends = plain.lists.map((_, i) => number % (i + 2) === 0 && number % 5 === 0)
        const flags = Uint8Array.from(ends, (ended) => (ended ? (t % 2 === 0 ? TERMINATED : TRUNCATED) : 0))
        recorder.record(actions, flags, Int32Array.from(plain.episodes))
        plain.record(actions, ends, size)
        if (t === restoreAt) {
          const snapshots = recorder.snapshot(10)
          recorder = new EpisodeRecorder(environments, size)
          recorder.restore(snapshots)
        }
      })
      expect(recorder.snapshot(10)).toEqual(expected())
    }),
    { seed: 20261128 },
  )
})
