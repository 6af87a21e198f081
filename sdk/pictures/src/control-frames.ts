import { share } from '@agentgym/contract/charts'
import type { Episode, ViewOf } from './episode.ts'
import { seenAt } from './episode.ts'
import { FRAME_HEIGHT, FRAME_WIDTH, points, type SvgElement, svg } from './svg.ts'

const MARGIN = 32
const SPAN = FRAME_WIDTH - 2 * MARGIN
const CART = { width: 52, height: 26, wheel: 7 }
const POLE = 104
/** Height of a level track, and of the lowest point of one with hills. */
const GROUND = 188
/** Room for hills. */
const HILLS = 128

/** A cart on its track, with its pole. */
export function cartFrame(episode: Episode, view: ViewOf<'cart'>, index: number): (SvgElement | null)[] {
  const { observation } = seenAt(episode, index)
  const { track } = view
  const ground = groundOf(track)
  const at = ground.at(observation[view.position] ?? track.low)
  const slope = svg(
    'g',
    { transform: `translate(${at.x.toFixed(2)} ${at.y.toFixed(2)}) rotate(${at.degrees.toFixed(2)})` },
    ...cart(view.angle === undefined ? null : (observation[view.angle] ?? 0), at.degrees),
  )
  const line = svg('polyline', { class: 'pic-ground', points: points(ground.line) })
  return [line, ...ends(ground), track.goal === undefined ? null : flag(ground.at(track.goal)), slope]
}

function cart(angle: number | null, tilt: number): (SvgElement | null)[] {
  const top = -CART.height - CART.wheel
  const turned = angle === null ? 0 : (angle * 180) / Math.PI - tilt
  const wheels = [-1, 1].map((side) =>
    svg('circle', { class: 'pic-wheel', cx: side * CART.width * 0.3, cy: -CART.wheel, r: CART.wheel }),
  )
  const pole =
    angle === null
      ? null
      : svg(
          'g',
          { transform: `translate(0 ${top + 5}) rotate(${turned.toFixed(2)})` },
          svg('line', { class: 'pic-pole', x1: 0, y1: 0, x2: 0, y2: -POLE }),
          svg('circle', { class: 'pic-joint', r: 4 }),
        )
  const body = { x: -CART.width / 2, y: top, width: CART.width, height: CART.height, rx: 5 }
  return [...wheels, svg('rect', { class: 'pic-body', ...body }), pole]
}

type Place = { x: number; y: number; degrees: number }
type Ground = { line: [number, number][]; at(position: number): Place; level: boolean }

/** Hills are to scale, if there is room. */
function groundOf({ low, high, heights }: ViewOf<'cart'>['track']): Ground {
  const levels = heights ?? [0, 0]
  const lowest = Math.min(...levels)
  const rise = Math.max(...levels) - lowest
  const scale = Math.min(SPAN / (high - low), rise > 0 ? HILLS / rise : Number.POSITIVE_INFINITY)
  const line = levels.map((height, i): [number, number] => [
    MARGIN + (i / (levels.length - 1)) * SPAN,
    GROUND - (height - lowest) * scale,
  ])
  const at = (position: number): Place => {
    const along = share(position, low, high) * (line.length - 1)
    const from = Math.min(Math.floor(along), line.length - 2)
    const [[x1, y1], [x2, y2]] = [line[from], line[from + 1]]
    const part = along - from
    return {
      x: x1 + (x2 - x1) * part,
      y: y1 + (y2 - y1) * part,
      degrees: (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI,
    }
  }
  return { line, at, level: rise === 0 }
}

function ends({ line, level }: Ground): SvgElement[] {
  if (!level) return []
  const marks = [line[0], line[line.length - 1]]
  const posts = marks.map(([x, y]) => svg('line', { class: 'pic-mark', x1: x, y1: y - 10, x2: x, y2: y + 10 }))
  const middle = svg('line', {
    class: 'pic-faint',
    x1: FRAME_WIDTH / 2,
    y1: 24,
    x2: FRAME_WIDTH / 2,
    y2: FRAME_HEIGHT - 24,
  })
  return [middle, ...posts]
}

function flag({ x, y }: Place): SvgElement {
  return svg(
    'g',
    {},
    svg('line', { class: 'pic-mark', x1: x, y1: y, x2: x, y2: y - 44 }),
    svg('polygon', {
      class: 'pic-goal',
      points: points([
        [x, y - 44],
        [x + 22, y - 36],
        [x, y - 28],
      ]),
    }),
  )
}

const HINGE = { x: FRAME_WIDTH / 2, y: FRAME_HEIGHT / 2 }
/** All rods, end to end. */
const REACH = 98

/** Rods from a hinge. */
export function linksFrame(episode: Episode, view: ViewOf<'links'>, index: number): (SvgElement | null)[] {
  const { observation } = seenAt(episode, index)
  const rod = REACH / view.links.length
  const sign = view.zero === 'up' ? 1 : -1
  const joints = [HINGE]
  let angle = 0
  for (const { cos, sin } of view.links) {
    angle += Math.atan2(observation[sin] ?? 0, observation[cos] ?? 1)
    const { x, y } = joints[joints.length - 1]
    // Counter-clockwise; y grows downwards on a screen.
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
