import { ENVIRONMENTS, EPISODES, mean, meets, type Played, round } from '../checks/whole-episodes.ts'
import { type DoctorFinding, severities } from './doctor-report.ts'
import type { Examination } from './examination.ts'
import { type ColumnRule, columnName, describeConstants } from './seen-columns.ts'

const FEW = 5

/** Judges what was seen, the most severe first. */
export function findingsOf(seen: Examination): DoctorFinding[] {
  const findings = [
    ...successWithoutLearning(seen),
    ...rewardWithoutSuccess(seen),
    ...rewards(seen),
    ...horizon(seen),
    ...constantColumns(seen),
    ...answersShown(seen),
    ...words(seen),
    ...splits(seen),
    ...missing(seen),
  ]
  return findings.sort((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
}

type Player = Examination['players'][number]

function reached({ played }: Player, { success, seed }: Examination): DoctorFinding['evidence'] {
  const criteria = Object.keys(success).filter((name) => name !== 'return_mean')
  const metrics = criteria.map((name) => [name, name in played.metrics ? round(played.metrics[name]) : null])
  return { return_mean: round(played.mean), episodes: played.returns.length, seed, ...Object.fromEntries(metrics) }
}

function successWithoutLearning(seen: Examination): DoctorFinding[] {
  return seen.players.flatMap((player): DoctorFinding[] => {
    if (meets(player.played, seen.success) !== true || player.kind === 'oracle') return []
    const evidence = reached(player, seen)
    if (player.kind === 'column') return []
    if (player.kind === 'greedy') {
      return [
        {
          id: 'greedy_succeeds',
          severity: 'note',
          message: `Taking the action with the highest next reward meets every success criterion: the reward gives each step's answer away, or the last step decides alone.`,
          fix: 'Fine if the task is meant to be easy. Else pay for results rather than for single right steps, or raise the criteria.',
          evidence,
        },
      ]
    }
    return [
      {
        id: `${player.kind}_succeeds`,
        severity: 'problem',
        message: `A player that learns nothing (${player.name}) meets every success criterion.`,
        fix: 'Raise agentgym.success to what only a trained agent reaches, or make the task need the observation.',
        evidence,
      },
    ]
  })
}

/** A simple player that earns more than the oracle and solves less: what it does is what training will find. */
function rewardWithoutSuccess(seen: Examination): DoctorFinding[] {
  const oracle = seen.players.find(({ kind }) => kind === 'oracle')
  if (oracle === undefined) return []
  const better = seen.players.filter(
    (player) =>
      player.kind !== 'oracle' &&
      player.played.mean > oracle.played.mean + 1e-6 * Math.max(1, Math.abs(oracle.played.mean)) &&
      meets(player.played, seen.success) !== true,
  )
  const best = better.sort((a, b) => b.played.mean - a.played.mean).at(0)
  if (best === undefined) return []
  return [
    {
      id: 'reward_hacking',
      severity: 'problem',
      message: `${best.name} return ${round(best.played.mean)}, more than the oracle's ${round(oracle.played.mean)}, and miss the success criteria: an agent that maximizes the reward will do that instead of the task.`,
      fix: 'Pay more for the result than can be collected on the way: lower the rewards of single steps, or pay each of them once.',
      evidence: { ...reached(best, seen), player: best.name, oracle_return: round(oracle.played.mean) },
    },
  ]
}

function rewards({ rewards: range, players, seed }: Examination): DoctorFinding[] {
  if (range === null) return []
  const evidence = {
    ...{ steps: range.steps, lowest: round(range.lowest), highest: round(range.highest), seed },
    share_of_usual_reward: round(range.usualShare),
  }
  const largest = Math.max(Math.abs(range.lowest), Math.abs(range.highest))
  const findings: DoctorFinding[] = []
  if (largest > 1_000 || (largest > 0 && largest < 1e-3)) {
    findings.push({
      id: 'reward_scale',
      severity: 'warning',
      message: `Rewards of random actions lie between ${round(range.lowest)} and ${round(range.highest)}: far from the size around 1 that default settings expect.`,
      fix: 'Divide rewards by a constant, or set normalize_reward in agentgym.training.',
      evidence,
    })
  }
  const random = players.find(({ kind }) => kind === 'random')
  const alike = random !== undefined && new Set(random.played.returns).size === 1
  if (range.distinct === 1 && alike) {
    findings.push({
      id: 'no_signal',
      severity: players.some(({ played }) => played.mean !== random.played.mean) ? 'warning' : 'problem',
      message: `In ${range.steps} steps of random actions every reward was ${round(range.lowest)}, and all ${random.played.returns.length} episodes returned the same: exploration finds nothing to learn from.`,
      fix: 'Pay for partial progress, start some episodes near the goal, or shorten the way to the first reward.',
      evidence,
    })
  } else if (range.distinct > 1 && range.usualShare > 0.999) {
    findings.push({
      id: 'sparse_signal',
      severity: 'warning',
      message: `Only ${percent(1 - range.usualShare)} of the steps of random actions pay anything unusual: learning will be slow.`,
      fix: 'Pay for partial progress, or begin with easier tasks.',
      evidence,
    })
  }
  return findings
}

function horizon({ description, players, seed }: Examination): DoctorFinding[] {
  const findings: DoctorFinding[] = []
  const lengths = (played: Played) => mean(played.lengths)
  const { maxSteps } = description
  const long = players.every(({ played }) => played.lengths.every((length) => length === 1))
  if (players.length > 0 && long && maxSteps > 1) {
    findings.push({
      id: 'ends_at_once',
      severity: 'warning',
      message: `Every episode of every player ended with its first step, and maxSteps is ${maxSteps}.`,
      fix: 'Check the condition of terminated; if one step is meant, set maxSteps to 1.',
      evidence: { max_steps: maxSteps, seed },
    })
  }
  const oracle = players.find(({ kind }) => kind === 'oracle')
  if (oracle !== undefined && lengths(oracle.played) > 0.8 * maxSteps && oracle.played.truncated === 0) {
    findings.push({
      id: 'tight_limit',
      severity: 'warning',
      message: `The oracle needs ${round(lengths(oracle.played))} of ${maxSteps} steps on average: an agent that is a little slower runs out of time.`,
      fix: 'Raise maxSteps, unless the haste is part of the task.',
      evidence: { oracle_length_mean: round(lengths(oracle.played)), max_steps: maxSteps, seed },
    })
  }
  const all = players.reduce((sum, { played }) => sum + played.returns.length, 0)
  if (maxSteps > 1 && players.length > 0 && players.every(({ played }) => played.truncated === played.returns.length)) {
    findings.push({
      id: 'never_terminates',
      severity: 'note',
      message: `All ${all} episodes reached the time limit of ${maxSteps} steps: none ended by itself.`,
      fix: 'Right for a task without an end. Else return terminated: true where it is solved or lost.',
      evidence: { episodes: all, max_steps: maxSteps, seed },
    })
  }
  return findings
}

function constantColumns({ description, constant, observations, seed }: Examination): DoctorFinding[] {
  const parts = describeConstants(description, constant)
  if (parts.length === 0) return []
  const named = parts.slice(0, FEW).join(', ')
  return [
    {
      id: 'constant_observation',
      severity: 'warning',
      message: `Never changed in ${observations} observations: ${named}${parts.length > FEW ? ` and ${parts.length - FEW} more` : ''}.`,
      fix: 'Leave out what says nothing, or mend what should have changed.',
      evidence: { parts: parts.length, columns: constant.length, observations, seed },
    },
  ]
}

const KNOWN = 0.98
const UNSURE = 0.85

function answersShown(seen: Examination): DoctorFinding[] {
  const { description, rules, firstRules, players, success, seed } = seen
  const evident = ({ accuracy, chance }: ColumnRule) => accuracy >= KNOWN && chance <= UNSURE
  const evidenceOf = ({ component, column, accuracy, chance, samples }: ColumnRule) => ({
    ...{ component, column: columnName(description, column), samples, seed },
    ...{ accuracy: round(accuracy), accuracy_of_usual_choice: round(chance) },
  })
  const findings: DoctorFinding[] = []
  const player = players.find(({ kind }) => kind === 'column')
  const [rule] = rules
  if (player !== undefined && meets(player.played, success) === true) {
    findings.push({
      id: 'one_number_solves',
      severity: 'warning',
      message: `A table over ${columnName(description, rule.column)} alone meets every success criterion.`,
      fix: 'If that number states the answer, take it out of the observation. If it is a natural signal, the task is simpler than it looks.',
      evidence: { ...evidenceOf(rule), return_mean: round(player.played.mean) },
    })
  } else {
    for (const told of rules.filter(evident)) {
      findings.push({
        id: 'answer_in_observation',
        severity: 'warning',
        message: `${columnName(description, told.column)} alone says the oracle's choice of ${told.component} in ${percent(told.accuracy)} of held-out steps; always its usual choice is right in ${percent(told.chance)}.`,
        fix: 'Show the agent what a person would see, not the label that the answer follows from.',
        evidence: evidenceOf(told),
      })
    }
  }
  const known = new Set(findings.map(({ evidence }) => evidence.component))
  for (const told of firstRules.filter(evident)) {
    if (known.has(told.component)) continue
    findings.push({
      id: 'first_answer_in_observation',
      severity: 'warning',
      message: `In first steps, ${columnName(description, told.column)} alone says the oracle's choice of ${told.component} in ${percent(told.accuracy)} of held-out episodes.`,
      fix: 'Show the agent what a person would see, not the label that the answer follows from.',
      evidence: evidenceOf(told),
    })
  }
  return findings
}

/** Of the words of a text; fewer that share tokens seldom matter. */
const MANY_SHARED = 0.1
/** Groups of words, and words of each. */
const SHOWN = 3

function words({ sharedTokens, seed }: Examination): DoctorFinding[] {
  return sharedTokens.map(({ leaf, words, vocabulary, groups, betterVocabulary }): DoctorFinding => {
    const sharing = groups.reduce((sum, group) => sum + group.length, 0)
    const shown = groups.slice(0, SHOWN).map((group) =>
      group
        .slice(0, SHOWN)
        .map((word) => `"${word}"`)
        .join(' and '),
    )
    return {
      id: 'words_share_tokens',
      severity: sharing > MANY_SHARED * words ? 'warning' : 'note',
      message: `${sharing} of the ${words} words seen in ${leaf} share a token with another one, such as ${shown.join('; ')}: an agent cannot tell them apart.`,
      fix:
        betterVocabulary === null
          ? `Give text() a larger vocabulary than ${vocabulary}, or an encoder.`
          : `Use vocabulary: ${betterVocabulary} in text(), in which each of these words has a token of its own.`,
      evidence: { text: leaf, words, sharing, vocabulary, better_vocabulary: betterVocabulary, seed },
    }
  })
}

/** Fewer different beginnings than that repeat by chance. */
const MANY_STARTS = 50

function splits({ starts, description, seed }: Examination): DoctorFinding[] {
  if (starts === null) return []
  const { tasks } = description
  const evidence = {
    ...{ train_episodes: starts.train, eval_episodes: starts.eval, seed },
    ...{ distinct_in_training: starts.distinctTrain, distinct_in_evaluation: starts.distinctEval },
  }
  if (tasks.train > 1 && starts.distinctTrain === 1) {
    return [
      {
        id: 'tasks_alike',
        severity: 'warning',
        message: `All ${starts.train} training episodes begin with the same observation, though there are ${tasks.train} tasks: a task's number changes nothing that the agent sees.`,
        fix: 'Generate the task from task.index in reset, and show what differs; or leave tasks out.',
        evidence,
      },
    ]
  }
  if (tasks.eval === 0 || starts.firstShared === null) return []
  if (starts.distinctEval < MANY_STARTS || starts.shared < 0.01 * starts.eval) return []
  const { firstShared } = starts
  const repeated = 1 - starts.distinctEval / starts.eval
  // Where beginnings also repeat within evaluation, two samples of one distribution share about twice as many.
  const certain = starts.shared / starts.eval > 4 * repeated + 0.01
  const doubt = `Beginnings repeat within evaluation, too (${starts.distinctEval} of ${starts.eval} differ), so the tasks may differ later.`
  return [
    {
      id: 'splits_overlap',
      severity: certain ? 'warning' : 'note',
      message: `${starts.shared} of ${starts.eval} evaluation episodes begin with an observation that training shows too. ${certain ? 'Evaluation is not held out.' : doubt}`,
      fix: 'If the tasks are the same, give both splits their own, such as by task.split in the seed of the generator.',
      evidence: {
        ...{ ...evidence, shared: starts.shared },
        ...{ evaluation_episode: firstShared.eval, training_environment: firstShared.train },
      },
    },
  ]
}

function missing({ description, players, success, seed }: Examination): DoctorFinding[] {
  const oracle = players.find(({ kind }) => kind === 'oracle')
  if (description.oracle !== true) {
    return [
      {
        id: 'no_oracle',
        severity: 'note',
        message: 'There is no oracle, so reward hacking and observations that state the answer were not looked for.',
        fix: 'Add oracle(state, { rng }), a scripted player that meets the success criteria.',
        evidence: { seed },
      },
    ]
  }
  if (oracle === undefined || meets(oracle.played, success) !== false) return []
  const episodes = oracle.played.returns.length
  const few = episodes < EPISODES * ENVIRONMENTS
  return [
    {
      id: 'oracle_fails',
      // A mean over few episodes may miss by chance.
      severity: few ? 'warning' : 'problem',
      message: `The oracle returns ${round(oracle.played.mean)} over ${episodes} episodes and misses the success criteria${few ? ', perhaps by chance: there was no time for more.' : ': the scenario cannot be solved as written.'}`,
      fix: 'Fix the oracle or the rules, or lower agentgym.success.',
      evidence: { return_mean: round(oracle.played.mean), episodes, seed },
    },
  ]
}

/** Three significant digits. */
function percent(share: number): string {
  return `${Number((100 * share).toPrecision(3))}%`
}
