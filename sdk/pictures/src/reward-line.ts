import type { Episode } from './episode.ts'
import { picture, points, type SvgElement, svg } from './svg.ts'

const WIDTH = 480
const HEIGHT = 48
const EDGE = 5

/** The reward of each step as a line from step 0 to the end, with the reward before step `index` marked. */
export function rewardLine({ steps }: Episode, index: number, title: string | null = null): SvgElement {
  const rewards = steps.map(({ reward }) => reward)
  const low = Math.min(0, ...rewards)
  const high = Math.max(0, ...rewards)
  const x = (step: number) => EDGE + (step / Math.max(1, steps.length)) * (WIDTH - 2 * EDGE)
  const y = (reward: number) => EDGE + (1 - (high === low ? 0.5 : (reward - low) / (high - low))) * (HEIGHT - 2 * EDGE)
  const line = rewards.map((reward, step): [number, number] => [x(step + 1), y(reward)])
  const marked = rewards[index - 1]
  return picture(
    WIDTH,
    HEIGHT,
    { title },
    svg('line', { class: 'pic-axis', x1: EDGE, x2: WIDTH - EDGE, y1: y(0), y2: y(0) }),
    svg('polyline', { class: 'pic-series', points: points(line) }),
    marked === undefined ? null : svg('circle', { class: 'pic-tip', cx: x(index), cy: y(marked), r: 4 }),
  )
}
