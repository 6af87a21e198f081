import type { ScenarioView } from '@agentgym/contract'

/** Units of a frame: four by three, as the lists show them. */
export const FRAME_WIDTH = 320
export const FRAME_HEIGHT = 240

/** One kind of view. */
export type ViewOf<Kind extends ScenarioView['kind']> = Extract<ScenarioView, { kind: Kind }>

/** Where `value` lies between `from` and `to`, 0 to 1; in the middle where they are one. */
export function share(value: number, from: number, to: number): number {
  if (!(to > from)) return 0.5
  // By halves: the largest numbers have no difference.
  return Math.min(1, Math.max(0, (value / 2 - from / 2) / (to / 2 - from / 2)))
}
