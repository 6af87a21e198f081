import type { SceneShape } from '@agentgym/contract'
import { type Episode, seenAt } from './episode.ts'
import { FRAME_HEIGHT, FRAME_WIDTH, points, type SvgElement, svg } from './svg.ts'

const MARGIN = 8

type Size = { width: number; height: number; y?: 'down' | 'up' }
type Point = readonly [x: number, y: number]
/** From the scene's units into those of the frame. */
type Placing = { scale: number; at(point: Point): [number, number] }

/** What the scenario draws of its own state. */
export function sceneFrame(episode: Episode, index: number): SvgElement[] {
  if (episode.scene === undefined) return []
  const { shapes, ...size } = episode.scene
  const placing = placeScene(size)
  return (seenAt(episode, index).scene ?? []).map((shape) => drawShape(shapes[shape], placing))
}

/** The part of the frame that a scene takes. */
export function sceneArea({ width, height }: Size): { x: number; y: number; width: number; height: number } {
  const scale = Math.min((FRAME_WIDTH - 2 * MARGIN) / width, (FRAME_HEIGHT - 2 * MARGIN) / height)
  const [wide, high] = [width * scale, height * scale]
  return { x: (FRAME_WIDTH - wide) / 2, y: (FRAME_HEIGHT - high) / 2, width: wide, height: high }
}

function placeScene(size: Size): Placing {
  const { x: left, y: top, width } = sceneArea(size)
  const scale = width / size.width
  const { height, y } = size
  return {
    scale,
    at: ([px, py]) => [left + px * scale, top + (y === 'up' ? height - py : py) * scale],
  }
}

function drawShape(shape: SceneShape, { scale, at }: Placing): SvgElement {
  const color = shape.color ?? 'ink'
  const style = 'outline' in shape && shape.outline === true ? `pic-line-${color}` : `pic-fill-${color}`
  switch (shape.kind) {
    case 'line': {
      const width = shape.thickness === undefined ? undefined : Math.max(0.5, shape.thickness * scale)
      return svg('polyline', {
        class: `pic-line-${color}`,
        points: points(shape.points.map(at)),
        'stroke-width': width,
      })
    }
    case 'polygon':
      return svg('polygon', { class: style, points: points(shape.points.map(at)) })
    case 'circle': {
      const [cx, cy] = at([shape.x, shape.y])
      return svg('circle', { class: style, cx, cy, r: shape.radius * scale })
    }
    case 'rect': {
      const [x1, y1] = at([shape.x, shape.y])
      const [x2, y2] = at([shape.x + shape.width, shape.y + shape.height])
      return svg('rect', { class: style, x: x1, y: Math.min(y1, y2), width: x2 - x1, height: Math.abs(y2 - y1) })
    }
    case 'text': {
      const [x, y] = at([shape.x, shape.y])
      const align = shape.align === undefined || shape.align === 'start' ? '' : ` pic-text-${shape.align}`
      return svg('text', { class: `pic-note pic-fill-${color}${align}`, x, y }, shape.text)
    }
  }
}
