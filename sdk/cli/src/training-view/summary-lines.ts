import {
  type Comparison,
  comparedPlayers,
  comparisonNote,
  decisionTimeText,
  describeTaskSet,
  type Evaluation,
  levelMetrics,
  type Reliability,
  type ResultEvent,
  type Run,
  reliabilityText,
  returnText,
  smallPriceText,
  solvedText,
  type TrainingEvent,
} from '@agentgym/contract'
import { shortId } from '../registry/find-by-id.ts'
import { formatCount, formatDuration, formatTarget, formatValue } from '../terminal/format-values.ts'
import { logLines } from '../terminal/log-lines.ts'
import { indented, renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { safeText, shellQuote, wrapText } from '../terminal/text.ts'
import type { TrainingPlan } from './run-state.ts'
import { costText, defaultsText, noticeText } from './run-state.ts'
import type { RunEnd } from './training-view.ts'

/**
 * The result of a run: a verdict, one line per target, and the next command. For a remote run also its cost and package.
 */
export function resultLines(result: ResultEvent, terminal: Terminal, { out, run }: RunEnd): string[] {
  const { paint, symbols } = terminal
  const verdict = [
    verdictLine(result.evaluation, terminal),
    ...criterionLines(result.evaluation, terminal),
    ...levelLines(result.evaluation, terminal),
    ...calibrationLines(result.evaluation, terminal),
    ...comparedLines(result.evaluation, terminal),
    ...memoryLines(result, terminal),
    ...unchangedLines(result, terminal),
  ]
  const remote = run === undefined ? [] : remoteResultLines(run, terminal)
  if (run !== undefined && out === null) {
    const took = `  Trained ${formatCount(result.steps)} steps in ${formatDuration(result.seconds)}`
    const fetch = `agentgym runs download ${shortId(run.id)}`
    return [...verdict, took, ...remote, `${symbols.next} Download the agent: ${paint.accent(fetch)}`]
  }
  const folder = out ?? result.agent
  return [
    ...verdict,
    `  Trained ${formatCount(result.steps)} steps in ${formatDuration(result.seconds)}; the agent is in ${paint.bold(safeText(folder))}`,
    ...remote,
    `${symbols.next} Evaluate it: ${paint.accent(`agentgym eval ${shellQuote(folder)}`)}`,
  ]
}

function remoteResultLines(run: Run, { paint }: Terminal): string[] {
  const cost = costText(run)
  const label = run.agent?.package ? safeText(`${run.agent.package.name}@${run.agent.package.version}`, 240) : undefined
  return [
    ...(cost === undefined ? [] : [`  Cost: ${cost}`]),
    ...(label === undefined
      ? []
      : [`  Published as ${paint.bold(label)}, being verified: agentgym info ${shellQuote(label)}`]),
  ]
}

/** `Every target reached on 100 held-out episodes: mean return 499.2 (sd 3.10)`. */
function verdictLine(evaluation: Evaluation, { paint, symbols }: Terminal): string {
  const { ok, criteria } = evaluation.success
  const spread = evaluation.return_std === null ? '' : ` (sd ${formatValue(evaluation.return_std)})`
  const meanReturn = `mean return ${formatValue(evaluation.return_mean)}${spread}`
  const where = `${formatCount(evaluation.episodes)} held-out episode${evaluation.episodes === 1 ? '' : 's'}`
  if (ok === null) return `${paint.accent(symbols.ok)} ${meanReturn} on ${where}; the scenario has no targets`
  const missed = criteria.filter((criterion) => !criterion.ok).length
  const word = ok
    ? 'Every target reached'
    : `${missed} of ${criteria.length} target${criteria.length === 1 ? '' : 's'} missed`
  return `${ok ? paint.accent(symbols.ok) : paint.warn(symbols.warning)} ${word} on ${where}: ${meanReturn}`
}

function criterionLines(evaluation: Evaluation, { paint, symbols }: Terminal): string[] {
  return evaluation.success.criteria.map(({ metric, target, value, ok }) => {
    const mark = ok ? paint.accent(symbols.ok) : paint.fail(symbols.failed)
    const against = paint.dim(`target ${formatTarget(target)}, ${ok ? 'reached' : 'missed'}`)
    return `  ${mark} ${safeText(metric, 60)} ${paint.bold(formatValue(value))}, ${against}`
  })
}

/** A row a level; nothing for a scenario without levels. */
function levelLines(evaluation: Evaluation, terminal: Terminal): string[] {
  if (evaluation.levels === undefined) return []
  const metrics = levelMetrics(evaluation)
  const columns = [
    { title: 'Level', shrink: true },
    ...['Episodes', 'Return', ...metrics.map((name) => safeText(name, 40))].map((title) => ({
      title,
      align: 'right' as const,
    })),
  ]
  const rows = evaluation.levels.map(({ name, episodes, return_mean, metrics: reached }) => [
    safeText(name, 40),
    formatCount(episodes),
    formatValue(return_mean),
    ...metrics.map((metric) => formatValue(Object.hasOwn(reached, metric) ? reached[metric] : null)),
  ])
  return renderTable(columns, rows, indented(terminal)).map((line) => `  ${line}`)
}

/** What the agent's probabilities mean; nothing where it was not measured. */
function calibrationLines({ calibration }: Evaluation, { paint }: Terminal): string[] {
  if (calibration === undefined) return []
  const line = (name: string, reliability: Reliability) => {
    const error = `expected calibration error ${(100 * reliability.ece).toFixed(1)}%`
    return `  ${paint.dim(name)} ${reliabilityText(reliability)}, ${paint.dim(error)}`
  }
  const { probability, confidence } = calibration
  return [
    ...(confidence === null ? [] : [line('confidence', confidence)]),
    line(confidence === null ? 'probability (not calibrated)' : 'raw probability', probability),
  ]
}

/** What players without training reach on the same episodes; nothing for an evaluation without baselines. */
function comparedLines(evaluation: Evaluation, terminal: Terminal, comparison?: Comparison): string[] {
  const players = comparedPlayers(evaluation, comparison)
  if (players.length === 0) return []
  const measured = comparison === undefined ? [] : ['Decision', 'Per million']
  const columns = [
    { title: comparison === undefined ? 'On the same episodes' : 'Player', shrink: true },
    ...['Solved', 'Return', 'Targets', ...measured].map((title) => ({ title, align: 'right' as const })),
  ]
  const rows = players.map((player) => [
    safeText(player.name, 100),
    solvedText(player),
    // Where a share says how sure it is, the return need not: a terminal has 80 columns.
    player.solved === null ? returnText(player, formatValue) : formatValue(player.return_mean),
    player.success === null ? '-' : player.success ? 'met' : 'missed',
    ...(comparison === undefined ? [] : decisionCells(player.decision)),
  ])
  const note =
    comparison === undefined ? [] : wrapText(safeText(comparisonNote(comparison), 1_000), terminal.columns() - 3)
  const lines = [...renderTable(columns, rows, indented(terminal)), ...note.map((line) => terminal.paint.dim(line))]
  return lines.map((line) => `  ${line}`)
}

function decisionCells(decision: { ms: number; million: number } | null): string[] {
  return decision === null ? ['-', '-'] : [decisionTimeText(decision.ms), smallPriceText(decision.million)]
}

/** Why a target may have been missed: what the policy cannot do. */
function memoryLines({ evaluation, memory }: ResultEvent, { paint }: Terminal): string[] {
  if (evaluation.success.ok !== false || memory !== false) return []
  const advice = 'Where earlier observations matter, train with --set memory=gru.'
  return [`  ${paint.dim(`The policy has no memory: it acts on the current observation alone. ${advice}`)}`]
}

/** A warm-started run that found nothing better than what it began with. */
function unchangedLines({ steps_of_weights, steps }: ResultEvent, { paint, symbols }: Terminal): string[] {
  if (steps_of_weights !== 0 || steps === 0) return []
  return [`  ${paint.warn(symbols.warning)} No weights were better than the parent's, so the agent has those`]
}

/** The plan of a run, shown before it starts. */
export function planLines(plan: TrainingPlan, terminal: Terminal, verbose: boolean): string[] {
  const { paint, symbols } = terminal
  const verb = plan.resume ? 'Resuming training on' : 'Training on'
  const lines = [
    `${symbols.next} ${verb} ${paint.bold(safeText(plan.scenario, 230))} with ${plan.algorithm}, ${formatCount(plan.steps)} steps, seed ${plan.seed}`,
  ]
  if (plan.remote) {
    lines.push(`  ${paint.dim('Run')} ${shortId(plan.remote.id)} ${paint.dim('at')} ${safeText(plan.remote.server)}`)
  }
  if (plan.parent !== undefined) lines.push(`  ${paint.dim('Starting from')} ${safeText(plan.parent, 240)}`)
  if (plan.out !== null) lines.push(`  ${paint.dim('Output folder:')} ${safeText(plan.out)}`)
  const defaults = defaultsLine(plan)
  if (defaults !== null) lines.push(`  ${paint.dim('Not set, so by default:')} ${defaults}`)
  if (verbose) {
    for (const [name, value] of Object.entries(plan.settings)) {
      lines.push(`  ${paint.dim(`${safeText(name, 60)} = ${safeText(JSON.stringify(value) ?? '', 200)}`)}`)
    }
  }
  return lines
}

/** What a run chose before it began, what may keep it from learning, or what its scenario logs. */
export function preludeLines(
  event: Extract<TrainingEvent, { event: 'defaults' | 'notice' | 'logs' }>,
  terminal: Terminal,
): string[] {
  const { paint, symbols } = terminal
  if (event.event === 'logs') return logLines(event, terminal, 20)
  if (event.event === 'notice') return [`${symbols.warning} ${noticeText(event)}`]
  return [`  ${paint.dim('Chosen for this scenario:')} ${defaultsText(event)}`]
}

/** What decides how a run learns; how long it is, and what it shows, is none of that. */
const learningSettings = [
  ...['environments', 'rollout_steps', 'minibatch_size', 'epochs', 'learning_rate', 'gamma', 'gae_lambda'],
  ...['entropy_coefficient', 'normalize_observation', 'normalize_reward', 'hidden'],
]

/** `gamma 0.995, hidden 128,128`: what the user may want to set. Null where the scenario has set all of it. */
function defaultsLine({ defaults = [], settings }: TrainingPlan): string | null {
  // What is null is chosen by the scenario, and shown then.
  const names = learningSettings.filter((name) => defaults.includes(name) && settings[name] !== null)
  if (names.length === 0) return null
  return names.map((name) => `${name} ${String(settings[name])}`).join(' · ')
}

/** An evaluation: verdict, targets, metrics and the hash of its trajectories. */
export function evaluationLines(evaluation: Evaluation, terminal: Terminal, comparison?: Comparison): string[] {
  const { paint } = terminal
  const judged = new Set(evaluation.success.criteria.map((criterion) => criterion.metric))
  const metrics = Object.entries(evaluation.metrics).filter(([name]) => !judged.has(name))
  return [
    verdictLine(evaluation, terminal),
    ...criterionLines(evaluation, terminal),
    `  ${paint.dim('mean length')} ${formatValue(evaluation.length_mean)} steps`,
    ...metrics.map(([name, value]) => `  ${paint.dim(safeText(name, 60))} ${formatValue(value)}`),
    ...levelLines(evaluation, terminal),
    ...calibrationLines(evaluation, terminal),
    ...comparedLines(evaluation, terminal, comparison),
    ...(evaluation.tasks === undefined ? [] : [`  ${paint.dim(describeTaskSet(evaluation.tasks))}`]),
    `  ${paint.dim(`seed ${evaluation.seed}, trajectories ${evaluation.trajectory_hash}`)}`,
  ]
}
