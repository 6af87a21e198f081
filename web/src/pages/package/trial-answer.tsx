import type { HostedCall, JsonObservation, SpaceLeaf } from '@agentgym/contract'
import { formatValue } from '@agentgym/contract/charts'
import { Command } from '../../components/controls.tsx'
import { Metric, Metrics } from '../../components/metrics.tsx'
import { TabPanels } from '../../components/tab-panels.tsx'
import { formatCount, formatLatency } from '../../format.ts'
import { usePage } from '../../layout/page-context.ts'

/** Maximum number of bars; with more choices, the most likely are shown. */
const mostBars = 12

type Action = HostedCall['action']
export type Answered = {
  call: HostedCall
  /** Total time in milliseconds. */
  took: number
}

const bearers = {
  own: 'Free (your agent)',
  free: 'Free',
  bought: 'License',
  trial: 'Free trial call',
}

/** What is sent to the API. */
export type TrialRequest = { name: string; version: string; observation: JsonObservation; mask?: unknown }

type TrialPanelProps = { answered: Answered | null; request: TrialRequest; leaves: SpaceLeaf[] }

/** The answer, beside the form; the same call as JSON and as a command behind tabs. */
export function TrialPanel({ answered, request, leaves }: TrialPanelProps) {
  const { host } = usePage()
  const body = JSON.stringify({ version: request.version, observation: request.observation, action_mask: request.mask })
  const address = `${host.publicUrl}/v1/packages/${request.name}/calls`
  const panels = [
    { tab: 'Action', body: answered === null ? <NoAnswer /> : <TrialAnswer answered={answered} leaves={leaves} /> },
    {
      tab: 'JSON',
      body: (
        <>
          <h3 class="package-label">Request</h3>
          <Command text={pretty(JSON.parse(body))} label="Copy the request" />
          {answered !== null && (
            <>
              <h3 class="package-label">Response</h3>
              <Command text={pretty(answered.call)} label="Copy the response" />
            </>
          )}
        </>
      ),
    },
    { tab: 'cURL', body: <Command text={curlText(address, body)} label="Copy the command" /> },
  ]
  return (
    <section class="trial-answer" aria-label="Answer">
      <TabPanels group="answer" legend="Answer as" panels={panels} />
    </section>
  )
}

function NoAnswer() {
  return <p class="dim">The agent’s action appears here.</p>
}

/** Indented, with lists of numbers on one line. */
function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/\[[-\d\s.,e+]*\]/g, (list) => list.replace(/\s+/g, ' '))
}

function curlText(address: string, body: string): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  return [
    `curl ${quoted(address)}`,
    `-H "Authorization: Bearer $AGENTGYM_TOKEN"`,
    `-H 'Content-Type: application/json'`,
    `-d ${quoted(body)}`,
  ].join(' \\\n  ')
}

/** The agent's action, its probabilities, and how the call was billed. */
function TrialAnswer({ answered: { call, took }, leaves }: { answered: Answered; leaves: SpaceLeaf[] }) {
  const { action, label, probabilities } = call
  return (
    <div class="trial-given">
      <p class="trial-action" dir="auto">
        {toolCall(label, action) ?? label ?? shownAction(action)}
      </p>
      {label !== null && typeof action === 'object' && toolCall(label, action) === null && <Parts action={action} />}
      {label === null && isListed(action) && <Parts action={action} />}
      {probabilities !== null && <Bars probabilities={probabilities} chosen={call} leaf={leaves[0]} />}
      <Metrics>
        <Metric label="Billing">{bearers[call.because]}</Metric>
        {call.trial_calls_left !== null && (
          <Metric label="Trial calls left">{formatCount(call.trial_calls_left, 'call')}</Metric>
        )}
        <Metric label="Model" note={`${formatLatency(took)} total`}>
          {formatValue(call.model_ms)} ms
        </Metric>
        <Metric label="Version">{call.version}</Metric>
      </Metrics>
    </div>
  )
}

const isListed = (action: Action) => typeof action === 'object' && action !== null

function shownAction(action: Action): string {
  if (isListed(action)) return Array.isArray(action) ? `${action.length} numbers` : 'Several parts'
  return typeof action === 'string' ? action : String(action)
}

/** `refund(order: A-17, percent: 50)` of a tool with arguments; null for anything else. */
function toolCall(label: string | null, action: Action): string | null {
  if (label === null || typeof action !== 'object' || action === null || !Object.hasOwn(action, label)) return null
  const given = (action as Record<string, Action>)[label]
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return null
  const shown = (value: Action) => (typeof value === 'number' ? formatValue(value) : String(value))
  return `${label}(${Object.entries(given)
    .map(([name, value]) => `${name}: ${typeof value === 'object' ? JSON.stringify(value) : shown(value)}`)
    .join(', ')})`
}

/** For an action that is not discrete. */
function Parts({ action }: { action: Action }) {
  const parts = Array.isArray(action) ? [...action.entries()] : Object.entries(action as Record<string, Action>)
  return (
    <dl class="trial-parts">
      {parts.map(([name, value]) => (
        <div>
          <dt class="mono">{name}</dt>
          <dd class="mono">{typeof value === 'number' ? formatValue(value) : JSON.stringify(value)}</dd>
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
        {many ? `Probabilities of the ${mostBars} most likely of ${choices.length} actions` : 'Action probabilities'}
      </caption>
      <tbody>
        {choices.slice(0, mostBars).map(({ number, probability, name }) => (
          <tr class={number === chosen.action ? 'trial-chosen' : undefined}>
            <th scope="row" dir="auto">
              {name}
              {number === chosen.action && <span class="visually-hidden"> (chosen)</span>}
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
