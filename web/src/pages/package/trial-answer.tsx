import type { HostedCall, SpaceLeaf } from '@agentgym/contract'
import { Figure, Figures } from '../../components/figure.tsx'
import { shownNumber } from '../../pictures/shown-number.ts'

/** Bars that are read one by one; of more choices the likeliest are shown. */
const mostBars = 12

type Action = HostedCall['action']
export type Answered = {
  call: HostedCall
  /** Milliseconds from the form to the answer. */
  took: number
}

const bearers = {
  own: 'Your own: it costs nothing',
  free: 'Free to call',
  bought: 'Yours by purchase',
  trial: 'On trial: it costs nothing',
}

/** What the agent does upon the observation, how sure it is, and who bears the call. */
export function TrialAnswer({ answered: { call, took }, leaves }: { answered: Answered; leaves: SpaceLeaf[] }) {
  const { action, label, probabilities } = call
  return (
    <section class="trial-answer" aria-labelledby="answer">
      <h2 id="answer">Answer</h2>
      <p class="trial-action" dir="auto">
        {label ?? shownAction(action)}
      </p>
      {label !== null && typeof action === 'object' && <Parts action={action} />}
      {label === null && isListed(action) && <Parts action={action} />}
      {probabilities !== null && <Bars probabilities={probabilities} chosen={call} leaf={leaves[0]} />}
      <Figures>
        <Figure label="Call">{bearers[call.because]}</Figure>
        {call.trial_calls_left !== null && (
          <Figure label="Left on trial">
            {call.trial_calls_left.toLocaleString('en')} {call.trial_calls_left === 1 ? 'call' : 'calls'}
          </Figure>
        )}
        <Figure label="Model" note={`${Math.max(1, Math.round(took)).toLocaleString('en')} ms with the way there`}>
          {shownNumber(call.model_ms)} ms
        </Figure>
        <Figure label="Version">{call.version}</Figure>
      </Figures>
    </section>
  )
}

const isListed = (action: Action) => typeof action === 'object' && action !== null

function shownAction(action: Action): string {
  if (isListed(action)) return Array.isArray(action) ? `${action.length} numbers` : 'Several parts'
  return typeof action === 'string' ? action : String(action)
}

/** Of an action that is not one choice. */
function Parts({ action }: { action: Action }) {
  const parts = Array.isArray(action) ? [...action.entries()] : Object.entries(action as Record<string, Action>)
  return (
    <dl class="trial-parts">
      {parts.map(([name, value]) => (
        <div>
          <dt class="mono">{name}</dt>
          <dd class="mono">{typeof value === 'number' ? shownNumber(value) : JSON.stringify(value)}</dd>
        </div>
      ))}
    </dl>
  )
}

type BarsProps = { probabilities: number[]; chosen: Pick<HostedCall, 'action'>; leaf: SpaceLeaf | undefined }

function Bars({ probabilities, chosen, leaf }: BarsProps) {
  const start = leaf?.start ?? 0
  const choices = probabilities.map((probability, index) => {
    const number = start + index
    return { number, probability, name: leaf?.labels?.[index] ?? String(number) }
  })
  const many = choices.length > mostBars
  if (many) choices.sort((a, b) => b.probability - a.probability)
  return (
    <table class="trial-bars">
      <caption>
        {many
          ? `Probabilities of the ${mostBars} likeliest of ${choices.length} choices`
          : 'Probability of each choice'}
      </caption>
      <tbody>
        {choices.slice(0, mostBars).map(({ number, probability, name }) => (
          <tr class={number === chosen.action ? 'trial-chosen' : undefined}>
            <th scope="row" dir="auto">
              {name}
              {number === chosen.action && <span class="visually-hidden"> (taken)</span>}
            </th>
            <td>
              <svg viewBox="0 0 100 8" width="100%" height="8" preserveAspectRatio="none" aria-hidden="true">
                <rect class="trial-bar-rest" width="100" height="8" />
                <rect class="trial-bar" width={100 * probability} height="8" />
              </svg>
            </td>
            <td class="numeric">{percent(probability)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function percent(probability: number): string {
  if (probability > 0 && probability < 0.001) return '< 0.1%'
  if (probability < 1 && probability > 0.999) return '> 99.9%'
  return `${(100 * probability).toFixed(1)}%`
}
