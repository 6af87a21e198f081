import type { SampleEpisode } from '@agentgym/contract'
import { columnNames, lastMoment, seenAt } from './episode-moments.ts'
import { FRAME_HEIGHT, FRAME_WIDTH, share } from './scene.ts'
import { shownNumber } from './shown-number.ts'
import { points, type SvgElement, svg } from './svg-element.ts'

const MAX_LINES = 6
const LEFT = 16
const RIGHT = FRAME_WIDTH - 16
const TOP = 12
const BOTTOM = FRAME_HEIGHT - 12

/** Every number of the observation as a line of its own, the moment marked across all; the first six where there are more. */
export function linesFrame(episode: SampleEpisode, labels: readonly string[], index: number): (SvgElement | null)[] {
  const names = columnNames(episode)
  const columns = seenAt(episode, 0).observation.length
  const lanes = Math.min(columns, MAX_LINES)
  if (lanes === 0) return [svg('text', { class: 'pic-text', x: LEFT, y: 24 }, 'This observation has no numbers.')]
  const last = lastMoment(episode)
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
      svg('text', { class: 'pic-text pic-text-end', x: RIGHT, y: top + 11 }, shownNumber(values[index] ?? 0)),
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
