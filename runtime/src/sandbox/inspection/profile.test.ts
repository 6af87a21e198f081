// @module-tag full
import { expect, test } from 'vitest'
import { buildScenario } from '../build-scenario.ts'
import { validPackage, withFolder } from '../testing/scenario-folder.ts'
import type { ScenarioProfile } from './profile-report.ts'
import { profileScenario } from './run-inspection.ts'

const slow = `/** Takes nearly all of the time. */
export function countPrimes(limit: number): number {
  let primes = 0
  for (let n = 2; n < limit; n += 1) {
    let prime = true
    for (let d = 2; d * d <= n; d += 1) if (n % d === 0) prime = false
    if (prime) primes += 1
  }
  return primes
}
`

const entry = `
import { box, defineScenario, discrete } from '@agentgym/scenario'
import { countPrimes } from './primes.ts'

function describeAll(count: number): string[] {
  return Array.from({ length: count }, (_, i) => 'number ' + i)
}

export default defineScenario({
  observation: box({ shape: [1] }),
  action: discrete({ n: 2 }),
  maxSteps: 20,
  reset: () => ({ primes: 0 }),
  step(state, action) {
    state.primes = countPrimes(300 + action)
    return { reward: 0, terminated: false }
  },
  observe: (state) => [state.primes + describeAll(20).length],
  metrics: (state) => ({ primes: state.primes }),
})
`

async function profile(): Promise<ScenarioProfile> {
  const files = { 'package.json': validPackage, 'src/index.ts': entry, 'src/primes.ts': slow }
  return withFolder(files, async (folder) => profileScenario(await buildScenario(folder)))
}

test('names the slow function with its place, the phase, and what allocates', async () => {
  const { functions, phases, steps, steps_per_second: speed, samples, episodes } = await profile()
  const slowest = functions.toSorted((a, b) => b.total - a.total).find(({ name }) => name === 'countPrimes')
  expect(slowest).toMatchObject({ file: 'src/primes.ts', line: 2 })
  expect(slowest?.total).toBeGreaterThan(0.3)
  const share = (phase: string) => phases.find((one) => one.phase === phase)
  expect(share('step')?.share).toBeGreaterThan(share('observe')?.share ?? 1)
  expect(share('observe')?.bytes_per_step).toBeGreaterThan(share('step')?.bytes_per_step ?? Number.POSITIVE_INFINITY)
  expect(samples).toBeGreaterThan(50)
  expect(speed).toBeGreaterThan(0)
  expect(steps).toBeGreaterThan(0)
  expect(episodes).toBeGreaterThan(0)
})
