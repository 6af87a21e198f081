import type { SuccessCriteria } from '@agentgym/contract'
import { RandomActions } from '@agentgym/playing'
import { IDLE } from '@agentgym/scenario/engine'
import { hashRow } from '../checks/compared-episodes.ts'
import type { Use } from '../checks/repeat-checks.ts'
import { ENVIRONMENTS, levelReturn, mean, meets, type Policy, playWhole, round } from '../checks/whole-episodes.ts'
import type { SandboxedEnvironment } from '../sandboxed-environment.ts'
import type { ScenarioDescription } from '../vector-environment.ts'
import type { DoctorPlayer, DoctorReport } from './doctor-report.ts'
import type { Examination, RewardRange, Starts } from './examination.ts'
import { findingsOf } from './findings.ts'
import { ColumnRanges, type ColumnRule, OracleSamples } from './seen-columns.ts'
import { SeenWords } from './seen-words.ts'
import { ConstantActions, constantName, countConstants, playGreedily } from './simple-players.ts'

const SEED = 1
/** More than are played, so that no environment becomes idle while it is watched. */
const PLAN = { split: 'eval', episodes: 1_000_000 } as const
/** Episodes whose first observations are compared. */
const STARTS = 512
const LARGE_ROW = 1 << 16
const LEAST_BEGINNINGS = 20

/**
 * Examines a scenario with players that need no training. Spends about `budgetMs`, and names what that did not suffice for.
 */
export function examineScenario(use: Use, success: SuccessCriteria, budgetMs: number): DoctorReport {
  const description = use({ environments: 1 }, (environment) => environment.description)
  const ranges = new ColumnRanges(description)
  const samples = new OracleSamples(description)
  const words = new SeenWords(description)
  const notShown: string[] = []
  const players: Examination['players'] = []
  const constants = countConstants(description)
  const share = budgetMs / (constants + 8)
  const play = (
    kind: Examination['players'][number]['kind'],
    name: string,
    makePolicy: (environment: SandboxedEnvironment) => Policy,
    options: {
      budgetMs?: number
      watchTexts?: 'all' | false
      afterStep?: (environment: SandboxedEnvironment) => void
    } = {},
  ) => {
    const { watchTexts = false } = options
    const played = use({ environments: ENVIRONMENTS, seed: SEED, plan: PLAN, watchTexts }, (environment) =>
      playWhole(environment, makePolicy(environment), {
        budgetMs: options.budgetMs ?? share,
        leastEpisodes: 1,
        afterStep: () => options.afterStep?.(environment),
      }),
    )
    if (played === null) notShown.push(`${name}: no whole episode in the time for it`)
    else players.push({ kind, name, played })
  }

  const rewards = new RewardCount()
  const look = (environment: SandboxedEnvironment) => {
    ranges.note(environment)
    words.note(environment)
  }
  play('random', 'random actions', () => new RandomActions(description, SEED), {
    budgetMs: 2 * share,
    watchTexts: words.watching,
    afterStep: (environment) => {
      rewards.note(environment.buffers.rewards)
      look(environment)
    },
  })
  for (let index = 0; index < constants; index++) {
    play('constant', constantName(description, index), () => new ConstantActions(description, index))
  }
  const greedy = playGreedily(use, SEED, 2 * share)
  if (greedy === null) notShown.push('greedy on the next reward: no whole episode in the time for it')
  else players.push({ kind: 'greedy', name: 'greedy on the next reward', played: greedy })
  let firstRules: ColumnRule[] = []
  if (description.oracle === true) {
    const policy = (environment: SandboxedEnvironment) => ({
      fill: () => {
        environment.oracle()
        samples.note(environment, IDLE)
      },
    })
    play('oracle', 'the oracle', policy, { budgetMs: 4 * share, watchTexts: words.watching, afterStep: look })
    firstRules = firstDecisions(use, description)
  }
  const rules = samples.probe(description)
  const rule = soleRule(description, rules)
  if (rule !== undefined) play('column', 'a rule on one number', () => new ColumnPolicy(description, rule))
  const examination: Examination = {
    ...{ description, success, seed: SEED, players, rules, firstRules },
    rewards: rewards.range(),
    constant: ranges.observations === 0 ? [] : ranges.constant(),
    observations: ranges.observations,
    starts: description.tasks.train === 0 ? null : compareStarts(use, description),
    sharedTokens: words.sharedTokens(),
  }
  const shown = players.map((player): DoctorPlayer => describePlayer(player, success, description))
  return { seed: SEED, players: shown, findings: findingsOf(examination), not_shown: notShown }
}

function describePlayer(
  { name, played }: Examination['players'][number],
  success: SuccessCriteria,
  { levels }: ScenarioDescription,
): DoctorPlayer {
  const episodes = played.returns.length
  return {
    player: name,
    episodes,
    return_mean: round(played.mean),
    length_mean: round(mean(played.lengths)),
    truncated: round(played.truncated / episodes),
    metrics: Object.fromEntries(Object.entries(played.metrics).map(([metric, value]) => [metric, round(value)])),
    meets_success: meets(played, success),
    ...(levels === undefined
      ? {}
      : {
          levels: levels.map((level, i) => ({
            name: level.name,
            return_mean: levelReturn(played, i, levels.length),
          })),
        }),
  }
}

const MOST_REWARDS = 1_000

class RewardCount {
  readonly #counts = new Map<number, number>()
  #steps = 0

  note(rewards: Float32Array): void {
    for (const reward of rewards) {
      this.#steps += 1
      // Beyond that many, each value is rare.
      if (this.#counts.size < MOST_REWARDS || this.#counts.has(reward)) {
        this.#counts.set(reward, (this.#counts.get(reward) ?? 0) + 1)
      }
    }
  }

  range(): RewardRange | null {
    if (this.#steps === 0) return null
    const values = [...this.#counts.keys()]
    const most = [...this.#counts.values()].reduce((a, b) => Math.max(a, b), 0)
    return {
      steps: this.#steps,
      lowest: values.reduce((a, b) => Math.min(a, b)),
      highest: values.reduce((a, b) => Math.max(a, b)),
      distinct: values.length,
      usualShare: most / this.#steps,
    }
  }
}

/** What the oracle does first in many episodes, beside what is seen then. */
function firstDecisions(use: Use, description: ScenarioDescription): ColumnRule[] {
  const environments = description.sizes.observation > LARGE_ROW ? 64 : 256
  return use({ environments, seed: SEED, plan: { split: 'eval', episodes: environments } }, (environment) => {
    const samples = new OracleSamples(description)
    environment.reset()
    environment.oracle()
    samples.note(environment, IDLE)
    // Where there are few beginnings, any number that tells them apart tells the answer.
    return samples.distinct() < LEAST_BEGINNINGS ? [] : samples.probe(description)
  })
}

/** The best rule of a scenario whose action is one choice: it can be played. */
function soleRule({ action }: ScenarioDescription, rules: readonly ColumnRule[]): ColumnRule | undefined {
  return action.type === 'discrete' ? rules.find(({ accuracy, chance }) => accuracy > chance) : undefined
}

class ColumnPolicy implements Policy {
  readonly #description: ScenarioDescription
  readonly #rule: ColumnRule
  readonly #legal: ConstantActions

  constructor(description: ScenarioDescription, rule: ColumnRule) {
    this.#description = description
    this.#rule = rule
    this.#legal = new ConstantActions(description, 0)
  }

  fill(buffers: SandboxedEnvironment['buffers']): void {
    const { observation, mask } = this.#description.sizes
    this.#legal.fill(buffers)
    for (let row = 0; row < buffers.flags.length; row++) {
      const choice = this.#rule.choose(buffers.observations[row * observation + this.#rule.column])
      if (mask === 0 || buffers.masks[row * mask + choice] === 1) buffers.actions[row] = choice
    }
  }
}

function compareStarts(use: Use, description: ScenarioDescription): Starts {
  const environments = description.sizes.observation > LARGE_ROW ? 64 : STARTS
  const first = (plan: { split: 'train' } | { split: 'eval'; episodes: number }) =>
    use({ environments, seed: SEED, plan }, (environment) => {
      environment.reset()
      return Array.from({ length: environments }, (_, row) => hashRow(environment, row, 0))
    })
  const train = first({ split: 'train' })
  const held = first({ split: 'eval', episodes: environments })
  const known = new Map(train.map((hash, number) => [hash, number]))
  const shared = held.flatMap((hash, number) => {
    const same = known.get(hash)
    return same === undefined ? [] : [{ train: same, eval: number }]
  })
  return {
    ...{ train: train.length, eval: held.length, shared: shared.length, firstShared: shared[0] ?? null },
    distinctTrain: new Set(train).size,
    distinctEval: new Set(held).size,
  }
}
