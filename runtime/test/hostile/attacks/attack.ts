import type { ErrorCode } from '@agentgym/contract'
import type { Phase } from '@agentgym/scenario/engine'
import type { JobLimits } from '../../../src/sandbox/limits.ts'

/** One hostile or broken scenario, and the failure that it must end in. */
export type Attack = {
  /** What it does; rows are those of HAZARDS.md, section 2. */
  name: string
  /** The scenario's entry: TypeScript that `buildScenario` bundles. */
  entry: string
  /** Any of these codes: where V8 may run out of memory or of time first, both are right. */
  expected: ErrorCode | ErrorCode[]
  phase?: Phase
  environment?: number
  step?: number
  /** Must occur in the message. */
  message?: string | RegExp
  limits?: Partial<JobLimits>
  steps?: number
}

/**
 * A healthy scenario with some members replaced. `attack` is called where the member says `hit()`: in the third step
 * of environment 1 (of four), so that a failure must name them.
 */
export function scenarioWith(members: string, before = ''): string {
  return `
import { box, defineScenario, discrete } from '@agentgym/scenario'
let stepped = -1
/** True once: in the third step of environment 1 of four. */
const hit = () => ++stepped === 2 * 4 + 1
const healthyStep = (state) => {
  state.time += 1
  return { reward: 1, terminated: false }
}
const healthy = {
  observation: box({ shape: [2] }),
  action: discrete({ n: 2 }),
  maxSteps: 20,
  reset: ({ rng }) => ({ time: 0, luck: rng() }),
  step: healthyStep,
  observe: (state) => [state.time, state.luck],
}
${before}
export default defineScenario({ ...healthy, ${members} } as never)
`
}

/** A scenario whose third step of environment 1 runs `body`. */
export function stepThat(body: string, before = ''): string {
  return scenarioWith(`step(state) { if (hit()) { ${body} } return healthyStep(state) }`, before)
}

/** Where `stepThat` strikes. */
export const struck = { phase: 'step', environment: 1, step: 3 } as const
