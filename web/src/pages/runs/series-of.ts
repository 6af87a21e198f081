import type { ProgressEvent } from '@agentgym/contract'

/** One figure of a learning curve by environment steps, for a chart. */
export function seriesOf(points: ProgressEvent[], value: (point: ProgressEvent) => number | null) {
  return points.map((point) => ({ x: point.steps, y: value(point) }))
}
