import type { Evaluation, ProgressEvent, TrainingEvent } from '@agentgym/contract'
import { formatCount, formatValue } from '../terminal/format-figures.ts'
import { safeText } from '../terminal/safe-text.ts'
import { type RemoteState, type RemoteUpdate, remoteText } from './remote-run.ts'
import type { TrainingPlan } from './training-plan.ts'

export type CriterionState = {
  metric: string
  target: number
  /** Mean over the last 100 training episodes; null before the first. */
  current: number | null
  /** From the last held-out evaluation; null before it. */
  heldOut: number | null
  reached: boolean
}

/** Everything that a view of a run shows; folded from the run's events, never changed from elsewhere. */
export type RunState = {
  plan: TrainingPlan
  progress: ProgressEvent | null
  /** Mean return against steps; thinned out when it grows beyond `maxPoints`. */
  returns: { steps: number; value: number }[]
  criteria: CriterionState[]
  evaluation: Evaluation | null
  checkpoint: { steps: number; path: string } | null
  /** The run on shared machines, as it was last heard of; null where this machine trains. */
  remote: RemoteState | null
  /** Newest last; safe to print. */
  log: { steps: number; text: string }[]
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
        log: addLog(state, event.steps, `Checkpoint written`),
      }
    case 'evaluation':
      return heldOut(state, event.evaluation, event.steps)
    case 'result':
      return heldOut(state, event.evaluation, event.steps)
    case 'error':
      return { ...state, log: addLog(state, state.progress?.steps ?? 0, safeText(event.error.message, 300)) }
  }
}

/** The state after news of a run on shared machines. */
export function advanceRemote(state: RunState, update: RemoteUpdate): RunState {
  const text = remoteText(update)
  const log = text === undefined ? state.log : addLog(state, state.progress?.steps ?? 0, text)
  return { ...state, remote: { run: update.run, silent: update.silent }, log }
}

/** Seconds left at the present rate; null while there is none. */
export function secondsLeft(progress: ProgressEvent): number | null {
  if (progress.steps_per_second <= 0) return null
  return Math.max(0, progress.steps_total - progress.steps) / progress.steps_per_second
}

function addReturn(returns: RunState['returns'], event: ProgressEvent): RunState['returns'] {
  if (event.return_mean === null) return returns
  const next = [...returns, { steps: event.steps, value: event.return_mean }]
  // Every other point goes; the newest always stays.
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
  const text = `Held out: return ${formatValue(evaluation.return_mean)} over ${formatCount(evaluation.episodes)} episodes${verdict}`
  return { ...state, evaluation, criteria, log: addLog(state, steps, text) }
}

function addLog(state: RunState, steps: number, text: string): RunState['log'] {
  return [...state.log, { steps, text }].slice(-maxLog)
}

function ownNumber(record: Record<string, number>, key: string): number | null {
  return Object.hasOwn(record, key) ? record[key] : null
}
