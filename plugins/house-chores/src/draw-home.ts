import type { Scene, SceneShape } from '@agentgym/scenario'
import { type House, type Place, type Room, rooms } from './chores.ts'

/** What is seen of a place: nothing while it is closed or was never visited. */
export type PlaceView = {
  place: Place
  closed: boolean
  things: readonly { kind: string; wanted: boolean }[] | null
  lamp: boolean
}

const CELL = { width: 8.3, height: 4.8 }
const TOP = 2.4
const columns: Record<Place, readonly [column: number, row: number]> = {
  fridge: [0, 0],
  microwave: [1, 0],
  sink: [0, 1],
  stove: [1, 1],
  counter: [0, 2],
  table: [2, 0],
  shelf: [2, 1],
  drawer: [2, 2],
}
const roomColumns: Record<Room, readonly [first: number, columns: number]> = { kitchen: [0, 2], 'living room': [2, 1] }

/** The plan of the house, with what has been seen so far, and where the robot is. */
export function drawHome(scene: {
  chore: House['chore']
  places: readonly PlaceView[]
  here: Place
  holding: string
  outcome: 'running' | 'done' | 'spoiled'
}): Scene {
  const { chore, places, here, holding, outcome } = scene
  const [column, row] = columns[here]
  const color = outcome === 'running' ? 'orange' : outcome === 'done' ? 'green' : 'failure'
  return {
    width: 3 * CELL.width + 0.2,
    height: TOP + 3 * CELL.height + 1.5,
    shapes: [
      { kind: 'text', x: 0.3, y: 1, text: `“${chore.text}”`, color: 'ink' },
      ...rooms.flatMap((room) => drawRoom(room)),
      ...places.flatMap((view) => drawPlace(view, view.place === chore.destination)),
      {
        kind: 'circle',
        x: column * CELL.width + CELL.width - 0.8,
        y: TOP + row * CELL.height + CELL.height - 0.9,
        radius: 0.55,
        color,
      },
      { kind: 'text', x: 0.3, y: TOP + 3 * CELL.height + 0.9, text: `in hand: ${holding}`, color },
    ],
  }
}

function drawRoom(room: Room): SceneShape[] {
  const [first, count] = roomColumns[room]
  const x = 0.1 + first * CELL.width
  const floor = { x, y: TOP - 0.2, width: count * CELL.width - 0.1, height: 3 * CELL.height + 0.2 }
  return [
    { kind: 'rect', ...floor, color: 'floor' },
    { kind: 'text', x: x + 0.2, y: TOP - 0.4, text: room, color: 'dim' },
  ]
}

function drawPlace({ place, closed, things, lamp }: PlaceView, wanted: boolean): SceneShape[] {
  const [column, row] = columns[place]
  const [x, y] = [0.3 + column * CELL.width, TOP + row * CELL.height]
  const ink = wanted ? 'accent' : 'ink'
  const inside = closed ? 'closed' : '?'
  const lines = things?.map((thing) => ({
    text: thing.kind,
    color: thing.wanted ? ('green' as const) : ('dim' as const),
  }))
  return [
    {
      kind: 'rect',
      x,
      y,
      width: CELL.width - 0.4,
      height: CELL.height - 0.2,
      color: wanted ? 'accent' : 'line',
      outline: true,
    },
    { kind: 'text', x: x + 0.3, y: y + 1, text: lamp ? `${place}, lamp` : place, color: ink },
    ...(lines ?? [{ text: inside, color: 'dim' as const }]).map(
      (line, number): SceneShape => ({ kind: 'text', x: x + 0.3, y: y + 1.9 + 0.85 * number, ...line }),
    ),
  ]
}
