import { AgentGymError } from '@agentgym/contract'
import { fullTier, isLong } from '@agentgym/testkit/tier'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BuiltScenario } from '../../src/sandbox/build-scenario.ts'
import type { JobLimits } from '../../src/sandbox/limits.ts'
import { type Attack, scenarioWith } from './attacks/attack.ts'
import { buildText, runEnvironment } from './run-environment.ts'

/** Short, so that the whole list stays short; `AGENTGYM_TEST_LONG=1` takes the limits that jobs have by default. */
const shortLimits: Partial<JobLimits> = isLong
  ? {}
  : { loadMs: 5_000, crossingMs: 500, graceMs: 300, processMemoryMb: 1_500 }

const AT_ONCE = 2

function newTurn(): PromiseWithResolvers<void> {
  const turn = Promise.withResolvers<void>()
  // Whoever waits for it sees the rejection; nobody may be waiting.
  turn.promise.catch(() => {})
  return turn
}

/** A healthy run that goes on beside the attacks: the same trajectory over and over, in a process of its own. */
class Neighbour {
  readonly #end = new AbortController()
  readonly #run: Promise<unknown>
  readonly hashes: string[] = []
  #next = newTurn()

  constructor(scenario: BuiltScenario) {
    const onHash = (hash: string) => {
      this.hashes.push(hash)
      this.#next.resolve()
      this.#next = newTurn()
    }
    this.#run = runEnvironment({ scenario, cycles: 1e9, steps: 200, onHash, signal: this.#end.signal })
    this.#run.catch((error) => this.#next.reject(error))
  }

  /** Resolves with the next trajectory that it has played to the end; rejects if the run has failed. */
  async nextHash(): Promise<string> {
    await this.#next.promise
    return this.hashes[this.hashes.length - 1]
  }

  async stop(): Promise<void> {
    this.#end.abort()
    await this.#run.catch(() => {})
  }
}

/** One test an attack, each in a supervised process of its own, beside a healthy run whose trajectory must not change. */
export function testAttacks(title: string, attacks: Attack[]): void {
  describe(title, () => {
    let neighbour: Neighbour
    let healthyHash: string
    const gate = new Gate(AT_ONCE)

    beforeAll(async () => {
      const healthy = await buildText(scenarioWith(''))
      healthyHash = await runEnvironment({ scenario: healthy, steps: 200 })
      neighbour = new Neighbour(healthy)
    })
    afterAll(() => neighbour.stop())

    for (const attack of attacks) {
      const tags = oneOfEachClass(attacks).includes(attack) ? [] : fullTier
      test.concurrent(attack.name, { timeout: 120_000, tags }, async () => {
        const scenario = await buildText(attack.entry)
        const { error, seconds } = await gate.pass(() => runAttack(scenario, attack))
        expectFailure(attack, error, seconds)
        expect(await neighbour.nextHash()).toBe(healthyHash)
      })
    }
  })
}

/** One attack for each way that attacks must end. */
function oneOfEachClass(attacks: Attack[]): Attack[] {
  return [...Map.groupBy(attacks, ({ expected }) => String(expected)).values()].map(([first]) => first)
}

async function runAttack(scenario: BuiltScenario, attack: Attack): Promise<{ error: unknown; seconds: number }> {
  const startedMs = performance.now()
  const limits = { ...shortLimits, ...attack.limits }
  const error = await runEnvironment({ scenario, limits, steps: attack.steps }).then(
    (hash) => `it ran to its end: ${hash}`,
    (reason: unknown) => reason,
  )
  return { error, seconds: (performance.now() - startedMs) / 1000 }
}

function expectFailure(attack: Attack, error: unknown, seconds: number): void {
  expect(error, String(error)).toBeInstanceOf(AgentGymError)
  if (!(error instanceof AgentGymError)) return
  const shown = `${error.code}: ${error.message} ${JSON.stringify(error.data)}`
  expect([attack.expected].flat(), shown).toContain(error.code)
  expect(error.message).toContain('@hostile/scenario@1.2.3')
  expect(error.data, shown).toMatchObject({ scenario: '@hostile/scenario', version: '1.2.3' })
  for (const key of ['phase', 'environment', 'step'] as const) {
    if (attack[key] !== undefined) expect(error.data[key], shown).toBe(attack[key])
  }
  expect(error.message + (error.hint ?? '')).toMatch(attack.message ?? '')
  expect(error.hint?.length ?? 0, shown).toBeGreaterThan(10)
  // Not a measurement: a run that was not ended would never come here.
  expect(seconds, shown).toBeLessThan(120)
}

/** Lets a few through at a time. */
class Gate {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(free: number) {
    this.#free = free
  }

  async pass<Result>(body: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await body()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free += 1
      else next()
    }
  }
}
