import { type Evaluation, formatAmount, type Run, type RunEvent } from '@agentgym/contract'
import { formatValue } from '@agentgym/contract/charts'

const mostLines = 200

/** Events of a run, newest first. */
export function RunLog({ log, run }: { log: RunEvent[]; run: Run }) {
  const lines = log.slice(-mostLines).reverse()
  return (
    <section class="run-log" aria-labelledby="log">
      <h2 id="log">Log</h2>
      {lines.length === 0 ? (
        <p class="dim">Events were deleted after the retention period. The curve and the agent are kept.</p>
      ) : (
        <ol tabindex={0} aria-label="Events">
          {lines.map((event) => (
            <li class={`run-log-line run-log-${event.type}`}>
              <time datetime={event.at}>{event.at.slice(0, 19).replace('T', ' ')}</time>
              <span>{describeEvent(event, run.cost.currency)}</span>
            </li>
          ))}
        </ol>
      )}
      {lines.length > 0 && <p class="run-log-zone">UTC, newest first</p>}
    </section>
  )
}

/** One line of a run's log. */
export function describeEvent(event: RunEvent, currency: string): string {
  const amount = (minor: number) => formatAmount(minor, currency)
  switch (event.type) {
    case 'queued':
      return queuedWords(event.data)
    case 'running':
      return runningWords(event.data, currency)
    case 'progress':
      return `Iteration ${event.data.iteration}: ${steps(event.data.steps)}.`
    case 'evaluation':
      return `Evaluated at ${steps(event.data.steps)}: ${evaluationWords(event.data.evaluation)}.`
    case 'checkpoint':
      return `Checkpoint after iteration ${event.data.iteration}, at ${steps(event.data.steps)}.`
    case 'budget_warning':
      return `75% of the budget spent: ${amount(event.data.spent_minor)} of ${amount(event.data.budget_minor)}.`
    case 'cancel_requested':
      return 'Cancel requested. Saving a checkpoint.'
    case 'completed':
      return `Completed after ${steps(event.data.steps)}: ${evaluationWords(event.data.evaluation)}.`
    case 'failed':
      return `Failed. ${event.data.error.message}`
    case 'cancelled':
      return 'Canceled.'
    case 'paused':
      return `Paused at ${steps(event.data.steps)}.`
    case 'budget_exceeded':
      return `Budget used up: ${amount(event.data.spent_minor)} of ${amount(event.data.budget_minor)}.`
    case 'published':
      return `Published as ${event.data.name}@${event.data.version}.`
    case 'publish_failed':
      return `Publishing failed. ${event.data.error.message}`
  }
}

type DataOf<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>['data']

function queuedWords({ reason, message }: DataOf<'queued'>): string {
  const why = {
    submitted: 'Queued.',
    lease_expired: 'Queued again: lost contact with the worker.',
    released: 'Queued again: released by the worker.',
    resumed: 'Resumed with a higher budget.',
  }[reason]
  return message === null ? why : `${why} ${message}`
}

function runningWords({ worker, from_iteration, price_minor_per_hour }: DataOf<'running'>, currency: string): string {
  const price = price_minor_per_hour === 0 ? 'free' : `${formatAmount(price_minor_per_hour, currency)} per hour`
  const from = from_iteration === 0 ? 'from the start' : `from iteration ${from_iteration}`
  return `Training on ${worker} ${from}, ${price}.`
}

/** `mean return 475 over 100 episodes, success`. */
function evaluationWords({ return_mean, episodes, success }: Evaluation): string {
  const mean = return_mean === null ? 'no completed episode' : `mean return ${formatValue(return_mean)}`
  const verdict = { true: ', success', false: ', targets not met', null: '' }[String(success.ok) as 'true']
  return `${mean} over ${episodes} episodes${verdict}`
}

function steps(count: number): string {
  return `${count.toLocaleString('en')} steps`
}
