/** A picture of the rooms, in cells. What the robot has not seen is faint. */
import type { Scene, SceneColor, SceneShape } from '@agentgym/scenario'
import { instruction, isDone, type Order } from './mission.ts'
import { type Color, carriedThing, HEIGHT, isSeen, ROOM, type Thing, WIDTH, type World } from './world.ts'

/** Rows above the rooms. */
const TOP = 2

/** The color roles nearest to the names. */
const shades: Record<Color, SceneColor> = { red: 'failure', green: 'green', blue: 'blue', yellow: 'yellow' }

type Moment = { world: World; order: Order; callsLeft: number; lastCall: string }

export function drawRooms({ world, order, callsLeft, lastCall }: Moment): Scene {
  const carried = carriedThing(world)
  return {
    width: WIDTH,
    height: TOP + HEIGHT + 1.2,
    shapes: [
      {
        kind: 'text',
        x: 0.2,
        y: 1,
        text: instruction(world, order),
        color: isDone(world, order.mission) ? 'green' : 'ink',
      },
      { kind: 'text', x: WIDTH - 0.2, y: 1, text: `${callsLeft} calls left`, align: 'end', color: 'dim' },
      ...drawWalls(world),
      ...world.things.flatMap((thing) => (thing === carried ? [] : drawThing(thing, isSeen(world, thing.cell)))),
      ...drawRobot(world),
      { kind: 'text', x: 0.2, y: TOP + HEIGHT + 0.8, text: lastCall, color: 'dim' },
    ],
  }
}

function middleOf(cell: number): { x: number; y: number } {
  return { x: (cell % WIDTH) + 0.5, y: TOP + Math.floor(cell / WIDTH) + 0.5 }
}

function drawWalls(world: World): SceneShape[] {
  const rooms = [0, 1, 2].map((room): SceneShape => {
    const x = room * (ROOM + 1)
    const seen = isSeen(world, x)
    return { kind: 'rect', x, y: TOP, width: ROOM, height: HEIGHT, color: seen ? 'floor' : 'line', outline: !seen }
  })
  const doors = world.doors.flatMap(({ cell, color, state }): SceneShape[] => {
    const { x, y } = middleOf(cell)
    const frame: SceneShape = {
      kind: 'rect',
      x: x - 0.5,
      y: y - 0.5,
      width: 1,
      height: 1,
      color: shades[color],
      outline: state === 'open',
    }
    const lock: SceneShape = { kind: 'circle', x, y, radius: 0.18, color: 'ink' }
    return state === 'locked' ? [frame, lock] : [frame]
  })
  return [...rooms, ...doors]
}

function drawThing({ cell, color, kind }: Thing, seen: boolean): SceneShape[] {
  const { x, y } = middleOf(cell)
  const shade = shades[color]
  const outline = !seen
  if (kind === 'ball') return [{ kind: 'circle', x, y, radius: 0.32, color: shade, outline }]
  if (kind === 'box') return [{ kind: 'rect', x: x - 0.3, y: y - 0.3, width: 0.6, height: 0.6, color: shade, outline }]
  return [
    { kind: 'circle', x: x - 0.2, y, radius: 0.16, color: shade, outline },
    {
      kind: 'line',
      points: [
        [x, y],
        [x + 0.38, y],
        [x + 0.38, y + 0.2],
      ],
      color: shade,
      thickness: 0.1,
    },
  ]
}

/** A triangle that points where the robot looks, with what it carries in the middle. */
function drawRobot(world: World): SceneShape[] {
  const { x, y } = middleOf(world.cell)
  const [dx, dy] = [
    [1, 0],
    [0, 1],
    [-1, 0],
    [0, -1],
  ][world.direction]
  const body: SceneShape = {
    kind: 'polygon',
    points: [
      [x + 0.42 * dx, y + 0.42 * dy],
      [x - 0.35 * dx - 0.35 * dy, y - 0.35 * dy + 0.35 * dx],
      [x - 0.35 * dx + 0.35 * dy, y - 0.35 * dy - 0.35 * dx],
    ],
    color: 'ink',
    outline: true,
  }
  const carried = carriedThing(world)
  return carried === undefined ? [body] : [body, { kind: 'circle', x, y, radius: 0.14, color: shades[carried.color] }]
}
