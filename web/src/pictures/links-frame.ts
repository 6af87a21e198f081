import type { SampleEpisode } from '@agentgym/contract'
import { seenAt } from './episode-moments.ts'
import { FRAME_HEIGHT, FRAME_WIDTH, type ViewOf } from './scene.ts'
import { type SvgElement, svg } from './svg-element.ts'

const HINGE = { x: FRAME_WIDTH / 2, y: FRAME_HEIGHT / 2 }
/** All rods, end to end. */
const REACH = 98

/** Rods from a hinge. */
export function linksFrame(episode: SampleEpisode, view: ViewOf<'links'>, index: number): (SvgElement | null)[] {
  const { observation } = seenAt(episode, index)
  const rod = REACH / view.links.length
  const sign = view.zero === 'up' ? 1 : -1
  const joints = [HINGE]
  let angle = 0
  for (const { cos, sin } of view.links) {
    angle += Math.atan2(observation[sin] ?? 0, observation[cos] ?? 1)
    const { x, y } = joints[joints.length - 1]
    // Counter-clockwise, as mathematics turns; y grows downwards on a screen.
    joints.push({ x: x - sign * Math.sin(angle) * rod, y: y - sign * Math.cos(angle) * rod })
  }
  const rods = joints.slice(1).map((end, i) => {
    const start = joints[i]
    return svg('line', { class: 'pic-rod', x1: start.x, y1: start.y, x2: end.x, y2: end.y })
  })
  const pins = joints.slice(0, -1).map(({ x, y }) => svg('circle', { class: 'pic-joint', cx: x, cy: y, r: 5 }))
  const tip = joints[joints.length - 1]
  const end = svg('circle', { class: 'pic-tip', cx: tip.x, cy: tip.y, r: 7 })
  return [
    svg('circle', { class: 'pic-reach', cx: HINGE.x, cy: HINGE.y, r: REACH }),
    view.goal === undefined ? null : goalLine(HINGE.y - view.goal * rod),
    ...rods,
    ...pins,
    end,
  ]
}

function goalLine(y: number): SvgElement {
  return svg('line', { class: 'pic-goal-line', x1: 40, y1: y, x2: FRAME_WIDTH - 40, y2: y })
}
