import {
  type AgentParent,
  type ChosenDefaults,
  type Evaluation,
  formatAmount,
  type ProgressEvent,
  type Run,
  type RunEvent,
  type ScenarioLogs,
  type SuccessCriteria,
  type TrainingEvent,
} from '@agentgym/contract'
import { formatCount, formatValue } from '../terminal/format-values.ts'
import { safeText } from '../terminal/text.ts'

/** The plan of a run. Strings from the scenario are raw: views make them safe. */
export type TrainingPlan = {
  /** `name@version` */
  scenario: string
  title: string
  algorithm: string
  steps: number
  seed: number
  /** Output folder as the user would type it; null if the agent stays on the server. */
  out: string | null
  resume: boolean
  success: SuccessCriteria
  /** Settings, shown with --verbose. */
  settings: Record<string, unknown>
  /** Names of settings that the run takes from the defaults; absent: not known. */
  defaults?: string[]
  /** `name@version (license)` of the agent that it started from; absent: none. */
  parent?: string
  /** The remote run, with the address of its server; absent for local training. */
  remote?: { id: string; server: string }
}

export type CriterionState = {
  metric: string
  target: number
  /** Mean over the last 100 training episodes; null before the first. */
  current: number | null
  /** From the last held-out evaluation; null before it. */
  heldOut: number | null
  reached: boolean
}

/** Everything that a view shows, reduced from the run's events. */
export type RunState = {
  plan: TrainingPlan
  progress: ProgressEvent | null
  /** Mean return against steps; thinned out when it grows beyond `maxPoints`. */
  returns: { steps: number; value: number }[]
  criteria: CriterionState[]
  evaluation: Evaluation | null
  checkpoint: { steps: number; path: string } | null
  /** The latest state of a remote run; null for local training. */
  remote: RemoteState | null
  /** Newest last; safe to print. */
  log: { steps: number; text: string }[]
}

/** `@acme/pole@1.0.0 (license MIT)`, not yet safe to print. */
export function parentText({ name, version, license }: AgentParent): string {
  return `${name}@${version} (${license === null ? 'no license' : `license ${license}`})`
}

const maxPoints = 1024
const maxLog = 100

export function startRunState(plan: TrainingPlan): RunState {
  const criteria = Object.entries(plan.success).map(([metric, target]) => ({
    metric: safeText(metric, 60),
    target,
    current: null,
    heldOut: null,
    reached: false,
  }))
  const text = `${plan.resume ? 'Resumes' : 'Starts'} ${plan.algorithm}, ${formatCount(plan.steps)} steps, seed ${plan.seed}`
  const log = [{ steps: 0, text }]
  return { plan, progress: null, returns: [], criteria, evaluation: null, checkpoint: null, remote: null, log }
}

/** The state after one more event. */
export function advanceRunState(state: RunState, event: TrainingEvent): RunState {
  switch (event.event) {
    case 'defaults':
      return { ...state, log: addLog(state, 0, defaultsText(event)) }
    case 'notice':
      return { ...state, log: addLog(state, 0, noticeText(event)) }
    case 'logs':
      return { ...state, log: addLog(state, state.progress?.steps ?? 0, `The console: ${lastLog(event)}`) }
    case 'progress':
      return {
        ...state,
        progress: event,
        returns: addReturn(state.returns, event),
        criteria: trainingCriteria(state, event),
      }
    case 'checkpoint':
      return {
        ...state,
        checkpoint: { steps: event.steps, path: event.path },
        log: addLog(
          state,
          event.steps,
          event.dropped ? 'Checkpoint written, without the replay buffer (over 128 MiB)' : 'Checkpoint written',
        ),
      }
    case 'evaluation':
      return heldOut(state, event.evaluation, event.steps)
    case 'result':
      return heldOut(state, event.evaluation, event.steps)
    case 'error':
      return { ...state, log: addLog(state, state.progress?.steps ?? 0, safeText(event.error.message, 300)) }
  }
}

/** `gamma 0.98, gae_lambda 0.95: one reward that matters in 1.6 steps, and only the time limit ends an episode`. */
export function defaultsText({ settings, reason }: ChosenDefaults): string {
  const values = Object.entries(settings).map(([name, value]) => `${safeText(name, 60)} ${value}`)
  return `${values.join(', ')}: ${safeText(reason, 200)}`
}

export function noticeText({ message, hint }: { message: string; hint: string }): string {
  const text = `${safeText(message, 200)}. ${safeText(hint, 200)}`
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function lastLog({ calls, entries }: ScenarioLogs): string {
  const text = safeText(entries.at(-1)?.text ?? '', 200)
  return calls === 1 ? text : `${text} (and ${formatCount(calls - 1)} more)`
}

/** The state after an update of a remote run. */
export function advanceRemote(state: RunState, update: RemoteUpdate): RunState {
  const text = remoteText(update)
  const log = text === undefined ? state.log : addLog(state, state.progress?.steps ?? 0, text)
  return { ...state, remote: { run: update.run, silent: update.silent }, log }
}

/** Seconds left at the current rate; null without a rate. */
export function secondsLeft(progress: ProgressEvent): number | null {
  if (progress.steps_per_second <= 0) return null
  return Math.max(0, progress.steps_total - progress.steps) / progress.steps_per_second
}

function addReturn(returns: RunState['returns'], event: ProgressEvent): RunState['returns'] {
  if (event.return_mean === null) return returns
  const next = [...returns, { steps: event.steps, value: event.return_mean }]
  // Drops every other point, but never the newest.
  return next.length > maxPoints ? next.filter((_, index) => index % 2 === (next.length - 1) % 2) : next
}

function trainingCriteria(state: RunState, event: ProgressEvent): CriterionState[] {
  return Object.entries(state.plan.success).map(([metric, target], index) => {
    const current = metric === 'return_mean' ? event.return_mean : ownNumber(event.metrics, metric)
    return { ...state.criteria[index], current, reached: current !== null && current >= target }
  })
}

function heldOut(state: RunState, evaluation: Evaluation, steps: number): RunState {
  const criteria = Object.keys(state.plan.success).map((metric, index) => {
    const value = evaluation.success.criteria.find((criterion) => criterion.metric === metric)?.value ?? null
    return { ...state.criteria[index], heldOut: value }
  })
  const verdict = evaluation.success.ok === null ? '' : evaluation.success.ok ? '; targets reached' : '; targets missed'
  const text = `Evaluation: return ${formatValue(evaluation.return_mean)} over ${formatCount(evaluation.episodes)} episodes${verdict}`
  return { ...state, evaluation, criteria, log: addLog(state, steps, text) }
}

function addLog(state: RunState, steps: number, text: string): RunState['log'] {
  return [...state.log, { steps, text }].slice(-maxLog)
}

function ownNumber(record: Record<string, number>, key: string): number | null {
  return Object.hasOwn(record, key) ? record[key] : null
}

/** An update of a remote run beside its training events: the run, and the event that changed it. */
export type RemoteUpdate = {
  /** As last read. */
  run: Run
  /** Null if only the position in the queue or the cost changed. */
  event: RunEvent | null
  /** The server is not responding; requests are retried. */
  silent?: boolean
}

/** The latest update of a remote run. */
export type RemoteState = Pick<RemoteUpdate, 'run' | 'silent'>

/** An event of a remote run as a line of its log; undefined for training events and for the end of the run. */
export function remoteText({ run, event }: RemoteUpdate): string | undefined {
  switch (event?.type) {
    case 'queued':
      return { submitted: 'Queued', resumed: 'Queued again', released: releasedText, lease_expired: lostText }[
        event.data.reason
      ]
    case 'running':
      return pickedUpText(event.data)
    case 'budget_warning': {
      const { spent_minor, budget_minor } = event.data
      const share = Math.floor((spent_minor / budget_minor) * 100)
      return `${share}% of the budget used: ${formatAmount(spent_minor, run.cost.currency)} of ${formatAmount(budget_minor, run.cost.currency)}`
    }
    case 'cancel_requested':
      return 'Canceling: the worker saves a checkpoint first'
    case 'published':
      return `Publishing the agent as ${safeText(`${event.data.name}@${event.data.version}`, 240)}`
    case 'publish_failed':
      return `The agent could not be published: ${safeText(event.data.error.message, 300)}`
    default:
      return undefined
  }
}

const releasedText = 'Released by its worker, which is stopping; queued again'
const lostText = 'Lost contact with its worker; queued again'

function pickedUpText(data: Extract<RunEvent, { type: 'running' }>['data']): string {
  const from = data.from_iteration > 0 ? `, from iteration ${formatCount(data.from_iteration)}` : ''
  return `Picked up by ${safeText(data.worker, 80)}${from}`
}

/** What a remote run is waiting for; undefined while it trains. */
export function remoteStage({ run, silent }: RemoteState, started: boolean): string | undefined {
  if (silent) return 'The server is not responding; retrying. The run continues'
  if (run.state === 'queued') return run.unserved ? safeText(run.unserved, 300) : `Queued, ${aheadText(run.ahead)}`
  if (run.cancel_requested) return 'Canceling: the worker saves a checkpoint first'
  if (run.state === 'running' && !started) return `Picked up by ${safeText(run.worker ?? 'a worker', 80)}; starting`
  return undefined
}

function aheadText(ahead: number | null): string {
  if (!ahead) return 'next in the queue'
  return ahead === 1 ? '1 run ahead' : `${formatCount(ahead)} runs ahead`
}

/** `€0.42 of €2.50`, `€0.42`; undefined if training is free and has no budget. */
export function costText({ cost }: Pick<Run, 'cost'>): string | undefined {
  const { currency, spent_minor: spent, budget_minor: budget, price_minor_per_hour: price } = cost
  if (budget !== null) {
    return `${formatAmount(spent, currency)} of ${formatAmount(budget, currency)}`
  }
  return spent > 0 || (price ?? 0) > 0 ? formatAmount(spent, currency) : undefined
}
