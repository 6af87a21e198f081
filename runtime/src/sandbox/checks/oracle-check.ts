import type { SuccessCriteria } from '@agentgym/contract'
import type { SandboxedEnvironment } from '../sandboxed-environment.ts'
import { CheckFailure, type Finding } from './check-messages.ts'
import { hashRow, partedAt } from './compared-episodes.ts'
import type { Use } from './repeat-checks.ts'
import { ENVIRONMENTS, EPISODES, type Played, playWhole, round } from './whole-episodes.ts'

const BUDGET_MS = 8_000
/** Vector steps that are played again without the oracle, and numbers of their actions. */
const MOST_REPLAYED = 2_000
const MOST_NUMBERS = 1 << 22
const PLAN = { split: 'eval', episodes: EPISODES * ENVIRONMENTS } as const

/** What the oracle did: the actions of all rows and a hash of what they showed, a vector step each. */
type Recorded = { actions: Float32Array[]; hashes: number[] }

/**
 * Plays the scenario's oracle on evaluation episodes: it must meet the success criteria, and leave the state as it is.
 * Throws a CheckFailure if it does not.
 */
export function checkOracle(use: Use, success: SuccessCriteria): { finding: Finding; played: Played | null } {
  const recorded: Recorded = { actions: [], hashes: [] }
  const reached = use({ environments: ENVIRONMENTS, plan: PLAN }, (environment) => {
    if (environment.description.oracle !== true) return undefined
    const policy = { fill: () => playOracle(environment, recorded) }
    return playWhole(environment, policy, { budgetMs: BUDGET_MS, leastEpisodes: 1 })
  })
  if (reached === undefined) {
    const message =
      'no oracle: not shown that the scenario can be solved. Add oracle(state, { rng }), a scripted player that meets the success criteria.'
    return { finding: { message }, played: null }
  }
  use({ environments: ENVIRONMENTS, plan: PLAN }, (environment) => replay(environment, recorded))
  if (reached === null) {
    const message = `not shown: an episode of the oracle takes more than ${BUDGET_MS / 1000} s. Make its choices or the steps faster.`
    return { finding: { message, warning: true }, played: null }
  }
  const values: Record<string, number> = { ...reached.metrics, return_mean: reached.mean }
  const criteria = Object.entries(success)
  const shown = criteria.map(([name, least]) => `${name} ${round(values[name] ?? Number.NaN)} (success: ${least})`)
  const episodes = `${reached.returns.length} evaluation episodes`
  if (criteria.some(([name, least]) => !(values[name] >= least))) {
    if (reached.returns.length < PLAN.episodes) {
      const message = `not shown: over only ${episodes}, its oracle reaches ${shown.join(', ')}. Make its choices or the steps faster, so that ${PLAN.episodes} episodes take less than ${BUDGET_MS / 1000} s.`
      return { finding: { message, warning: true }, played: reached }
    }
    throw new CheckFailure(
      `The scenario cannot be solved as written: over ${episodes}, its oracle reaches ${shown.join(', ')}. Fix the oracle or the rules, or lower agentgym.success to what can be reached.`,
    )
  }
  const met = shown.length > 0 ? `meets ${shown.join(', ')}` : 'has no success criteria to meet'
  const message = `over ${episodes}, the oracle returns ${round(reached.mean)} and ${met}`
  return { finding: { message, value: round(reached.mean) }, played: reached }
}

/** Keeps one step before it plays the next: `fill` is called between steps. */
function playOracle(environment: SandboxedEnvironment, { actions, hashes }: Recorded): void {
  const { buffers } = environment
  if (actions.length > 0 && hashes.length < actions.length * ENVIRONMENTS) noteHashes(environment, hashes)
  environment.oracle()
  if (actions.length >= MOST_REPLAYED || actions.length * buffers.actions.length >= MOST_NUMBERS) return
  actions.push(buffers.actions.slice())
}

function noteHashes(environment: SandboxedEnvironment, hashes: number[]): void {
  for (let row = 0; row < ENVIRONMENTS; row++) hashes.push(hashRow(environment, row, hashes.at(-ENVIRONMENTS) ?? 0))
}

/** The same actions without the oracle: an oracle that changes the state plays another scenario. */
function replay(environment: SandboxedEnvironment, { actions, hashes }: Recorded): void {
  const again: number[] = []
  environment.reset()
  for (const action of actions) {
    environment.buffers.actions.set(action)
    environment.step()
    noteHashes(environment, again)
  }
  const compared = Math.min(hashes.length, again.length)
  const of = (list: number[]) => Int32Array.from(list.slice(0, compared))
  const parted = partedAt(of(hashes), of(again), ENVIRONMENTS)
  if (parted === undefined) return
  throw new CheckFailure(
    `The oracle changes the state: its actions alone lead elsewhere, from step ${parted.step + 1} of environment ${parted.environment} on. It may look at the state; let it copy what it works on.`,
  )
}
