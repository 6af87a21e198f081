/** Colors by use and by hue; the theme of a page or a terminal says what they look like. */
export type SceneColor =
  | 'ink'
  | 'dim'
  | 'line'
  | 'floor'
  | 'accent'
  | 'warning'
  | 'failure'
  | 'blue'
  | 'orange'
  | 'green'
  | 'purple'
  | 'yellow'

/** In the units of the scene. */
export type ScenePoint = readonly [x: number, y: number]

/** A shape in the units of the scene. Default color: ink. `outline` draws the outline only. */
export type SceneShape =
  /** An open line; `thickness` in units, by default a hairline. At most 256 points. */
  | { kind: 'line'; points: readonly ScenePoint[]; color?: SceneColor; thickness?: number }
  | { kind: 'polygon'; points: readonly ScenePoint[]; color?: SceneColor; outline?: boolean }
  | { kind: 'circle'; x: number; y: number; radius: number; color?: SceneColor; outline?: boolean }
  /** `x` and `y` are its lowest coordinates. */
  | { kind: 'rect'; x: number; y: number; width: number; height: number; color?: SceneColor; outline?: boolean }
  /** At most 80 characters; its size does not depend on the units. */
  | { kind: 'text'; x: number; y: number; text: string; color?: SceneColor; align?: 'start' | 'middle' | 'end' }

/** What `render` returns: a moment of an episode. Later shapes are drawn over earlier ones; at most 400. */
export type Scene = {
  /** Size in units of your own, the same throughout an episode. */
  width: number
  height: number
  /** Direction in which `y` grows. Default: `down`, as on a screen. */
  y?: 'down' | 'up'
  shapes: readonly SceneShape[]
}
