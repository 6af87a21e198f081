import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'

const long = process.env.AGENTGYM_TEST_LONG === '1'

it('changed models are refused with a code or accepted, with little memory', { timeout: 3_600_000 }, async () => {
  const worker = new Worker(new URL('../../test/walk-mutants.worker.ts', import.meta.url), {
    workerData: long ? { runs: 200_000 } : { runs: 3_000, seed: 20261128 },
    // A walk that made room for what a file only promises would end the thread.
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32 },
  })
  const failed = once(worker, 'error').then(([error]) => Promise.reject(error))
  const [codes] = await Promise.race([once(worker, 'message'), failed])
  await worker.terminate()
  expect(codes.accepted).toBeGreaterThan(10)
  expect(Object.keys(codes).length).toBeGreaterThan(25)
})
