import type { ScenarioView } from './scenario-manifest.ts'

/** What a view must fit: columns of numbers in the observation, texts, and choices of the only categorical action. */
export type ViewedSpaces = { columns: number; texts: number; choices: number | null }

/** Why the view does not fit the spaces, as a phrase that follows "the view"; null if it fits. */
export function viewProblem(view: ScenarioView, { columns, texts, choices }: ViewedSpaces): string | null {
  const needed = columnsOfView(view)
  if (needed > columns) return `names column ${needed - 1}, and the observation has ${columns} numbers`
  if (needed > mostViewedColumns)
    return `names column ${needed - 1}; a picture may use the first ${mostViewedColumns} numbers`
  if (view.kind === 'transcript' && texts === 0) return 'is a transcript, and the observation has no text'
  if (view.kind !== 'grid') return null
  const [channels, rows, width] = view.shape
  if (view.channels.length !== channels) return `names ${view.channels.length} channels of ${channels}`
  if (hasAgent(view)) return view.moves === undefined ? null : 'has both moves and a channel "agent"'
  const named = view.channels.every((channel) => typeof channel === 'object')
  // A board of the author's own kinds need not show where the agent is.
  if (named && view.moves === undefined) return null
  if (rows % 2 === 0 || width % 2 === 0) return 'has no middle for the agent: rows and columns must be odd'
  if (view.moves !== undefined && view.moves.length !== choices)
    return `has ${view.moves.length} moves for ${choices === null ? 'an action that is not one choice' : `${choices} actions`}`
  return null
}

/** Whether a channel shows where the agent is; else it is in the middle, unless every channel is of the author's own kind. */
function hasAgent({ channels }: Extract<ScenarioView, { kind: 'grid' }>): boolean {
  return channels.some((channel) => channel === 'agent' || (typeof channel === 'object' && channel.name === 'agent'))
}

/** Numbers of an observation, from the first, that a sample episode may keep for its view. */
export const mostViewedColumns = 8_192

/** How many numbers of an observation, from the first, a view needs. */
export function columnsOfView(view: ScenarioView): number {
  return 1 + Math.max(-1, ...columnsOf(view))
}

function columnsOf(view: ScenarioView): number[] {
  switch (view.kind) {
    case 'cart':
      return view.angle === undefined ? [view.position] : [view.position, view.angle]
    case 'links':
      return view.links.flatMap(({ cos, sin }) => [cos, sin])
    case 'grid':
      return [view.at + view.shape[0] * view.shape[1] * view.shape[2] - 1]
    case 'transcript':
      return [(view.facts?.length ?? 0) - 1]
    case 'lines':
      return [(view.labels?.length ?? 0) - 1, ...(view.series ?? []).map(({ at }) => at)]
  }
}
