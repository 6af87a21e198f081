import fc from 'fast-check'
import { expect, it } from 'vitest'
import { WorkerGpus } from './worker-gpus.ts'

const gpus = [80, 16, 40].map((memory, number) => ({ uuid: `GPU-${number}`, memory }))

it('gives a run the smallest GPU that it can use, and frees it', () => {
  const owned = new WorkerGpus(gpus)
  const small = owned.take({ count: 1, memory_bytes: 8 })
  expect(small.uuids).toEqual(['GPU-1'])
  const pair = owned.take({ count: 2, memory_bytes: 8 })
  expect(pair.uuids).toEqual(['GPU-2', 'GPU-0'])
  expect(owned.free).toEqual([])
  expect(() => owned.take({ count: 1, memory_bytes: 0 })).toThrow('without its GPUs')
  small.end()
  expect(owned.free).toEqual([1])
  pair.end()
  expect(owned.free).toEqual([0, 1, 2])
  expect(owned.take({ count: 0, memory_bytes: 0 }).uuids).toEqual([])
})

it('never gives a GPU to two runs, whatever requests overlap', async () => {
  const runs = fc.array(fc.record({ count: fc.integer({ min: 0, max: 3 }), memory: fc.constantFrom(0, 20, 60) }))
  await fc.assert(
    fc.asyncProperty(runs, fc.scheduler(), async (wanted, scheduler) => {
      const owned = new WorkerGpus(gpus)
      const held: string[] = []
      const requests = wanted.map(({ count, memory }) =>
        owned.inTurn(async () => {
          // As the server would: it leases a run only to a worker that offers its GPUs.
          const fitting = owned.free.filter((number) => gpus[number].memory >= memory)
          await scheduler.schedule(Promise.resolve())
          if (fitting.length >= count) held.push(...owned.take({ count, memory_bytes: memory }).uuids)
        }),
      )
      await scheduler.waitFor(Promise.all(requests))
      expect(new Set(held).size).toBe(held.length)
    }),
    { numRuns: 50 },
  )
})

it('goes on after a request that failed, and waits for nothing without GPUs', async () => {
  const owned = new WorkerGpus(gpus)
  await expect(owned.inTurn(() => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer')
  expect(await owned.inTurn(async () => 1)).toBe(1)
  const none = new WorkerGpus([])
  const never = none.inTurn(() => new Promise(() => {}))
  expect(await none.inTurn(async () => 2)).toBe(2)
  expect(never).toBeInstanceOf(Promise)
})
