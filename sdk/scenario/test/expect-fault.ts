import { expect } from 'vitest'
import type { EngineFault, FaultCode } from '../src/engine/index.ts'
import { box, discrete } from '../src/index.ts'
import { faultOf, startEngine } from './start-engine.ts'

type Parts = Record<string, unknown>

/** A scenario in which nothing is wrong but the parts that are given. */
export function scenario(parts: Parts): Parts {
  return {
    observation: box({ shape: [2] }),
    action: discrete({ n: 2 }),
    maxSteps: 5,
    reset: () => ({ step: 0 }),
    step(state: { step: number }) {
      state.step += 1
      return { reward: 1, terminated: false }
    },
    observe: () => [0, 0],
    ...parts,
  }
}

/** Resets and steps until the fault. */
export function faultIn(parts: Parts, environments = 1): EngineFault {
  return faultOf(() => {
    const { engine } = startEngine(scenario(parts), { environments })
    engine.reset()
    for (let step = 0; step < 10; step += 1) engine.step()
  })
}

export function expectFault(parts: Parts, code: FaultCode, message: string | RegExp): EngineFault {
  const fault = faultIn(parts)
  expect([fault.code, fault.message]).toEqual([
    code,
    typeof message === 'string' ? message : expect.stringMatching(message),
  ])
  return fault
}
