import { type RecordedEpisode, type ScenarioView, viewProblem } from '@agentgym/contract'
import { formatValue } from '@agentgym/contract/charts'

/** One kind of view. */
export type ViewOf<Kind extends ScenarioView['kind']> = Extract<ScenarioView, { kind: Kind }>

/** An episode that can be drawn; also a sample episode. It may still grow. */
export type Episode = RecordedEpisode

type Seen = Episode['last']

/** The observation before action `index`, or the final one after the last action. */
export function seenAt(episode: Episode, index: number): Seen {
  return episode.steps[index] ?? episode.last
}

/** The last index, equal to the number of actions. */
export function lastStep(episode: Episode): number {
  return episode.steps.length
}

/** Sum of the rewards of the first `index` actions. */
export function returnAt(episode: Episode, index: number): number {
  return episode.steps.slice(0, index).reduce((sum, { reward }) => sum + reward, 0)
}

type ActionPart = { name: string; value: string }

/** A choice by its name, numbers as they are: `right`, `0.5, −1`; a tool with its arguments: `refund(order: orders[2], share: 0.5)`. */
export function actionName(episode: Episode, action: readonly number[]): string {
  const parts = actionParts(episode, action)
  return (
    toolCall(parts) ??
    (parts.map(({ name, value }) => (name === '' ? value : `${name}: ${value}`)).join(', ') || 'no action')
  )
}

function actionParts(episode: Episode, action: readonly number[]): ActionPart[] {
  let column = 0
  return episode.action.map(({ name, kind, size, labels, list }) => {
    const values = action.slice(column, column + size)
    column += size
    if (kind !== 'discrete') return { name, value: values.map(formatValue).join(', ') }
    const index = values[0] ?? 0
    const label = labels[index]
    // A tool's argument is a word of the author's: in quotes, as it would be in a call.
    if (label !== undefined) return { name, value: name.includes('.') ? JSON.stringify(label) : label }
    return { name, value: list === undefined ? `action ${index}` : `${list}[${index}]` }
  })
}

/** Of a tool scenario, whose leaves are `tool` and, for tools with parameters, `refund.order` and so on: what counts of them. */
function toolCall([tool, ...others]: ActionPart[]): string | null {
  if (tool?.name !== 'tool' || others.length === 0 || !others.every(({ name }) => name.includes('.'))) return null
  const own = `${tool.value}.`
  const given = others.filter(({ name }) => name.startsWith(own))
  return `${tool.value}(${given.map(({ name, value }) => `${name.slice(own.length)}: ${value}`).join(', ')})`
}

/** What a choice of the first component of an action is called: an action by its name, or a tool. */
export function choiceName({ action: [leaf] }: Episode, choice: number): string {
  return leaf?.labels[choice] ?? `action ${choice}`
}

/** Name of an observation column: from the view, else from its leaf. */
export function columnNames(episode: Episode): string[] {
  const names: string[] = []
  for (const { name, size } of episode.observation) {
    for (let i = 0; i < size && names.length < 256; i++) {
      const base = name === '' ? 'observation' : name
      names.push(size === 1 && name !== '' ? base : `${base}[${i}]`)
    }
  }
  return names
}

const ends = {
  terminated: 'terminated',
  truncated: 'truncated by the time limit',
  cut: 'continues',
} as const

/** Policy, length and result of an episode. */
export function episodeSummary(episode: Episode): string {
  const steps = episode.steps.length
  const who = { agent: 'Trained agent', random: 'Random policy', person: 'Person' }[episode.policy]
  const total = formatValue(Number(returnAt(episode, steps).toPrecision(4)))
  return `${who}: ${steps} ${steps === 1 ? 'step' : 'steps'}, return ${total}; ${ends[episode.end]}.`
}

/** A step in words: the previous action, its reward, and the return so far. */
export function describeStep(episode: Episode, index: number): string {
  const sum = formatValue(Number(returnAt(episode, index).toPrecision(4)))
  const step = episode.steps[index - 1]
  if (step === undefined) return `Start of ${lastStep(episode)} steps.`
  return `Step ${index}: ${actionName(episode, step.action)}, reward ${formatValue(step.reward)}, return so far ${sum}.`
}

/** The view of an episode: the scenario's own, if it fits the episode and no scene takes its place. */
export function episodeView(episode: Episode): ScenarioView | null {
  const { view, observation, action, steps, scene } = episode
  if (view === null || scene !== undefined) return null
  const [only] = action
  const spaces = {
    columns: Math.min(...[...steps, episode.last].map((seen) => seen.observation.length)),
    texts: observation.filter(({ kind }) => kind === 'text').length,
    choices: action.length === 1 && only.kind === 'discrete' ? choicesOf(view, only.labels.length) : null,
  }
  return viewProblem(view, spaces) === null ? view : null
}

/**
 * If there are fewer labels than choices, the number of moves in the view is used, which was checked against the space.
 */
function choicesOf(view: ScenarioView, labels: number): number {
  return labels > 0 ? labels : view.kind === 'grid' ? (view.moves?.length ?? 0) : 0
}
