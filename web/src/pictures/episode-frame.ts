import type { SampleEpisode, ScenarioView } from '@agentgym/contract'
import { formatValue, share } from '@agentgym/contract/charts'
import { cartFrame, linksFrame } from './control-frames.ts'
import { columnNames, episodeSummary, lastStep, seenAt } from './episode.ts'
import { gridFrame } from './grid-frame.ts'
import { FRAME_HEIGHT, FRAME_WIDTH, picture, points, type SvgElement, svg } from './svg.ts'
import { transcriptFrame } from './transcript-frame.ts'

type FrameOptions = {
  /** Accessible title; null if adjacent text has it. */
  title?: string | null
}

/**
 * A frame of an episode: the observation before action `index`, from 0 to the number of actions. `view` must fit the
 * episode (see `episodeView`); null draws lines. The same on the server and in the replay.
 */
export function episodeFrame(
  episode: SampleEpisode,
  view: ScenarioView | null,
  index: number,
  { title = 'A moment of a sample episode' }: FrameOptions = {},
): SvgElement {
  const last = lastStep(episode)
  const at = Math.min(Math.max(0, Math.trunc(index)), last)
  const description = `Step ${at} of ${last}. ${episodeSummary(episode)}`
  return picture(FRAME_WIDTH, FRAME_HEIGHT, { title, description }, ...scene(episode, view, at))
}

function scene(episode: SampleEpisode, view: ScenarioView | null, index: number): (SvgElement | null)[] {
  switch (view?.kind) {
    case 'cart':
      return cartFrame(episode, view, index)
    case 'links':
      return linksFrame(episode, view, index)
    case 'grid':
      return gridFrame(episode, view, index)
    case 'transcript':
      return transcriptFrame(episode, view, index)
    default:
      return linesFrame(episode, view?.labels ?? [], index)
  }
}

const MAX_LINES = 6
const LEFT = 16
const RIGHT = FRAME_WIDTH - 16
const TOP = 12
const BOTTOM = FRAME_HEIGHT - 12

/** A line for each number of the observation, at most six, with the current step marked. */
function linesFrame(episode: SampleEpisode, labels: readonly string[], index: number): (SvgElement | null)[] {
  const names = columnNames(episode)
  const columns = seenAt(episode, 0).observation.length
  const lanes = Math.min(columns, MAX_LINES)
  if (lanes === 0) return [svg('text', { class: 'pic-text', x: LEFT, y: 24 }, 'This observation has no numbers.')]
  const last = lastStep(episode)
  const x = (moment: number) => LEFT + share(moment, 0, last) * (RIGHT - LEFT)
  const lane = (BOTTOM - TOP - (columns > lanes ? 14 : 0)) / lanes
  const drawn = Array.from({ length: lanes }, (_, column) => {
    const values = Array.from({ length: last + 1 }, (_, moment) => seenAt(episode, moment).observation[column] ?? 0)
    const [low, high] = [Math.min(...values), Math.max(...values)]
    const top = TOP + column * lane
    const y = (value: number) => top + lane - 5 - share(value, low, high) * (lane - 22)
    const name = labels[column] ?? names[column] ?? `observation[${column}]`
    return svg(
      'g',
      {},
      svg('line', { class: 'pic-faint', x1: LEFT, y1: top + lane, x2: RIGHT, y2: top + lane }),
      svg('text', { class: 'pic-text', x: LEFT, y: top + 11 }, name),
      svg('text', { class: 'pic-text pic-text-end', x: RIGHT, y: top + 11 }, formatValue(values[index] ?? 0)),
      svg('polyline', { class: 'pic-series', points: points(values.map((value, moment) => [x(moment), y(value)])) }),
      svg('circle', { class: 'pic-tip', cx: x(index), cy: y(values[index] ?? 0), r: 3.5 }),
    )
  })
  const more = `and ${columns - lanes} more numbers`
  return [
    svg('line', { class: 'pic-cursor', x1: x(index), y1: TOP, x2: x(index), y2: BOTTOM }),
    ...drawn,
    columns > lanes ? svg('text', { class: 'pic-text', x: LEFT, y: BOTTOM - 1 }, more) : null,
  ]
}
