import type { Scene, SceneShape } from '@agentgym/scenario'
import {
  CHUNKS,
  type Engine,
  FEET,
  groundAt,
  HEIGHT,
  HULL,
  type Lander,
  PAD_HEIGHT,
  PAD_REACH,
  pointOf,
  WIDTH,
} from './lander.ts'

const FLAG = 0.9
/** Where the jet of each engine leaves the hull, and its end. */
const JETS = {
  main: [
    [-0.2, -0.33],
    [0, -1.1],
    [0.2, -0.33],
  ],
  left: [
    [-0.53, 0.3],
    [-0.95, 0.2],
    [-0.53, 0.1],
  ],
  right: [
    [0.53, 0.3],
    [0.95, 0.2],
    [0.53, 0.1],
  ],
} as const

/** The moon, the pad between its flags, and the lander with the jet of the engine that fired last. */
export function drawLander(lander: Lander, engine: Engine): Scene {
  const at = (right: number, up: number) => {
    const { x, y } = pointOf(lander, right, up)
    return [x, y] as const
  }
  const ground = Array.from({ length: CHUNKS }, (_, i) => {
    const x = (i / (CHUNKS - 1)) * WIDTH
    return [x, groundAt(lander, x)] as const
  })
  const flags = [-1, 1].flatMap((side): SceneShape[] => {
    const x = WIDTH / 2 + side * PAD_REACH
    return [
      {
        kind: 'line',
        points: [
          [x, PAD_HEIGHT],
          [x, PAD_HEIGHT + FLAG],
        ],
        color: 'ink',
      },
      {
        kind: 'polygon',
        points: [
          [x, PAD_HEIGHT + FLAG],
          [x + 0.6, PAD_HEIGHT + FLAG - 0.2],
          [x, PAD_HEIGHT + FLAG - 0.4],
        ],
        color: 'accent',
      },
    ]
  })
  const legs = FEET.map(
    ([right, up], index): SceneShape => ({
      kind: 'line',
      points: [at(Math.sign(right) * 0.45, -0.2), at(right, up)],
      color: lander.contacts[index] ? 'accent' : 'dim',
      thickness: 0.14,
    }),
  )
  const jet: SceneShape[] =
    engine === 'none'
      ? []
      : [{ kind: 'polygon', points: JETS[engine].map(([right, up]) => at(right, up)), color: 'orange' }]
  return {
    width: WIDTH,
    height: HEIGHT,
    y: 'up',
    shapes: [
      { kind: 'polygon', points: [[0, 0], ...ground, [WIDTH, 0]], color: 'floor' },
      { kind: 'line', points: ground, color: 'line' },
      ...flags,
      ...jet,
      ...legs,
      { kind: 'polygon', points: HULL.map(([right, up]) => at(right, up)), color: lander.crashed ? 'failure' : 'blue' },
    ],
  }
}
