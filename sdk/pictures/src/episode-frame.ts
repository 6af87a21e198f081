import type { ScenarioView } from '@agentgym/contract'
import { formatValue, share } from '@agentgym/contract/charts'
import { cartFrame, linksFrame } from './control-frames.ts'
import { columnNames, type Episode, episodeSummary, lastStep, seenAt, type ViewOf } from './episode.ts'
import { gridFrame } from './grid-frame.ts'
import { sceneFrame } from './scene-frame.ts'
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
  episode: Episode,
  view: ScenarioView | null,
  index: number,
  { title = 'A moment of a sample episode' }: FrameOptions = {},
): SvgElement {
  const last = lastStep(episode)
  const at = Math.min(Math.max(0, Math.trunc(index)), last)
  const description = `Step ${at} of ${last}. ${episodeSummary(episode)}`
  return picture(FRAME_WIDTH, FRAME_HEIGHT, { title, description }, ...scene(episode, view, at))
}

function scene(episode: Episode, view: ScenarioView | null, index: number): (SvgElement | null)[] {
  // What a scenario draws of itself says more than its observation.
  if (episode.scene !== undefined) return sceneFrame(episode, index)
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
      return linesFrame(episode, view, index)
  }
}

const MAX_LINES = 6
const LEFT = 16
const RIGHT = FRAME_WIDTH - 16
const TOP = 12
const BOTTOM = FRAME_HEIGHT - 12

type Line = { at: number; name: string; unit: string; low: number | undefined; high: number | undefined }

/** The numbers that a view of lines draws: those it names, else the first of the observation. */
export function linesOf(episode: Episode, view: ViewOf<'lines'> | null): { lines: Line[]; more: number } {
  if (view?.series !== undefined) {
    const named = view.series.map(({ at, label, unit, low, high }) => ({
      at,
      name: label,
      unit: unit ?? '',
      low,
      high,
    }))
    return { lines: named, more: 0 }
  }
  const columns = seenAt(episode, 0).observation.length
  const names = columnNames(episode)
  const shown = Math.min(columns, MAX_LINES)
  const lines = Array.from({ length: shown }, (_, at) => ({
    ...{ at, unit: '', low: undefined, high: undefined },
    name: view?.labels?.[at] ?? names[at] ?? `observation[${at}]`,
  }))
  return { lines, more: columns - shown }
}

/** A value with its unit. */
export function valueText(value: number, unit: string): string {
  return unit === '' ? formatValue(value) : `${formatValue(value)} ${unit}`
}

/** A line for each number that is drawn, at most six, with the current step marked. */
function linesFrame(episode: Episode, view: ViewOf<'lines'> | null, index: number): (SvgElement | null)[] {
  const { lines, more } = linesOf(episode, view)
  if (lines.length === 0)
    return [svg('text', { class: 'pic-text', x: LEFT, y: 24 }, 'This observation has no numbers.')]
  const last = lastStep(episode)
  const x = (moment: number) => LEFT + share(moment, 0, last) * (RIGHT - LEFT)
  const lane = (BOTTOM - TOP - (more > 0 ? 14 : 0)) / lines.length
  const drawn = lines.map((line, position) => {
    const values = Array.from({ length: last + 1 }, (_, moment) => seenAt(episode, moment).observation[line.at] ?? 0)
    const [low, high] = [line.low ?? Math.min(...values), line.high ?? Math.max(...values)]
    const top = TOP + position * lane
    const y = (value: number) => top + lane - 5 - share(Math.min(high, Math.max(low, value)), low, high) * (lane - 22)
    const now = values[index] ?? 0
    return svg(
      'g',
      {},
      svg('line', { class: 'pic-faint', x1: LEFT, y1: top + lane, x2: RIGHT, y2: top + lane }),
      svg('polyline', { class: 'pic-series', points: points(values.map((value, moment) => [x(moment), y(value)])) }),
      svg('circle', { class: 'pic-tip', cx: x(index), cy: y(now), r: 3.5 }),
      svg('text', { class: 'pic-text', x: LEFT, y: top + 11 }, line.name),
      svg('text', { class: 'pic-text pic-text-end', x: RIGHT, y: top + 11 }, valueText(now, line.unit)),
    )
  })
  return [
    svg('line', { class: 'pic-cursor', x1: x(index), y1: TOP, x2: x(index), y2: BOTTOM }),
    ...drawn,
    more > 0 ? svg('text', { class: 'pic-text', x: LEFT, y: BOTTOM - 1 }, `and ${more} more numbers`) : null,
  ]
}
