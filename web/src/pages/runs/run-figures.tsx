import { formatAmount, type Run } from '@agentgym/contract'
import { Figure, Figures } from '../../components/figure.tsx'
import { ShareBar } from '../../components/share-bar.tsx'
import { shownNumber } from '../../pictures/shown-number.ts'
import { durationWords } from './duration-words.ts'

/** Where the server warns that a budget comes to its end. */
const budgetMark = 0.75

/** What a run has come to: return, steps, pace, time, cost. */
export function RunFigures({ run }: { run: Run }) {
  const { progress, state } = run
  return (
    <Figures>
      <Figure label="Mean return" note="of the last 100 episodes">
        <span data-figure="return_mean">{shownOr(progress?.return_mean)}</span>
      </Figure>
      <Figure label="Steps" note={progress === null ? 'none yet' : `of ${progress.steps_total.toLocaleString('en')}`}>
        <span data-figure="steps">{(progress?.steps ?? 0).toLocaleString('en')}</span>
      </Figure>
      <Figure label="Throughput" note="steps a second">
        <span data-figure="steps_per_second">{shownOr(progress?.steps_per_second)}</span>
      </Figure>
      <Figure label={state === 'running' ? 'Time left' : 'Trained'} note={timeNote(run)}>
        <span data-figure={state === 'running' ? 'time_left' : undefined}>{timeOf(run)}</span>
      </Figure>
      <Figure label="Episodes">
        <span data-figure="episodes_total">{(progress?.episodes_total ?? 0).toLocaleString('en')}</span>
      </Figure>
    </Figures>
  )
}

function shownOr(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : shownNumber(value)
}

function timeOf({ state, progress }: Run): string {
  if (progress === null) return '–'
  if (state !== 'running') return durationWords(progress.seconds)
  const left = progress.steps_total - progress.steps
  return progress.steps_per_second > 0 ? durationWords(left / progress.steps_per_second) : '–'
}

function timeNote({ state, progress }: Run): string | undefined {
  if (state !== 'running') return undefined
  return progress === null ? 'starting' : 'at this pace'
}

/** How far along, and how much of the budget is spent. */
export function RunBars({ run: { progress, cost, state } }: { run: Run }) {
  const done = progress === null ? 0 : progress.steps / progress.steps_total
  const amount = (minor: number) => formatAmount(minor, cost.currency)
  const { spent_minor, budget_minor } = cost
  const spent = budget_minor === null ? 0 : spent_minor / budget_minor
  return (
    <div class="run-bars">
      <div>
        <p class="run-bar-head">
          <span>Training</span>
          <span class="mono">{Math.floor(done * 100)}%</span>
        </p>
        <ShareBar share={done} label={`${Math.floor(done * 100)}% of the steps are done`} />
      </div>
      <div>
        <p class="run-bar-head">
          <span>Budget</span>
          <span class="mono">
            {amount(spent_minor)}
            {budget_minor === null ? ' spent' : ` of ${amount(budget_minor)}`}
          </span>
        </p>
        {budget_minor === null ? (
          <p class="run-bar-note">No limit was set.</p>
        ) : (
          <>
            <ShareBar
              share={spent}
              mark={budgetMark}
              tone={spent >= budgetMark ? 'warning' : 'plain'}
              label={`${amount(spent_minor)} of ${amount(budget_minor)} are spent`}
            />
            <p class="run-bar-note">{budgetNote(spent, state)}</p>
          </>
        )}
      </div>
    </div>
  )
}

function budgetNote(spent: number, state: Run['state']): string {
  if (state === 'budget_exceeded') return 'Used up. Raise it to go on from the last checkpoint.'
  if (spent >= budgetMark) return 'More than three quarters are spent; at the limit the run stops, with a checkpoint.'
  return 'You are warned at three quarters; at the limit the run stops, with a checkpoint.'
}
