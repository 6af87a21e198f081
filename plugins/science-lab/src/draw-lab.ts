/** The laboratory: stove, freezer and window with the things on them, the bench, the cup, and what is known of the thing in hand. */
import type { Scene, SceneColor, SceneShape } from '@agentgym/scenario'
import {
  type Experiment,
  FIRST_PAINT,
  FIRST_SPECIMEN,
  matterOf,
  type Notes,
  PLANT,
  readingOf,
  THINGS,
  WATER,
} from './experiment.ts'
import { colorOf, DRY, FLOWERING, type Place, paints, phaseOf } from './physics.ts'

const WIDTH = 304
const HEIGHT = 224
const SLOT = WIDTH / THINGS
/** Characters that fit beside each other. */
const LINE = 50
const colors: { [color: string]: SceneColor } = {
  ...{ red: 'failure', yellow: 'yellow', blue: 'blue' },
  ...{ orange: 'orange', green: 'green', violet: 'purple', brown: 'ink', empty: 'line' },
}
/** Where the ground of each place is; things on the bench keep their distance from its left end everywhere. */
const ground: { [Each in Place]: { y: number; color: SceneColor } } = {
  stove: { y: 70, color: 'failure' },
  window: { y: 108, color: 'yellow' },
  freezer: { y: 146, color: 'blue' },
  bench: { y: 184, color: 'line' },
}

export function drawLab(experiment: Experiment): Scene {
  const { lab, things, taken, cup, ending, failed, message } = experiment
  const middle = lab.text.lastIndexOf(' ', LINE)
  const lines = lab.text.length <= LINE ? [lab.text] : [lab.text.slice(0, middle), lab.text.slice(middle + 1)]
  const shapes: SceneShape[] = lines.map((text, i) => ({ kind: 'text', x: 0, y: 9 + 11 * i, text }))
  for (const [place, { y, color }] of Object.entries(ground)) {
    shapes.push({ kind: 'rect', x: 0, y, width: WIDTH, height: 2, color })
    shapes.push({ kind: 'text', x: WIDTH, y: y - 4, text: place, color: 'dim', align: 'end' })
  }
  for (const thing of things.keys()) {
    const { y } = ground[experiment.places[thing]]
    shapes.push(...drawThing(experiment, thing, thing * SLOT + 3, y))
    if (thing !== taken) continue
    shapes.push({
      kind: 'rect',
      x: thing * SLOT,
      y: y - 28,
      width: SLOT - 2,
      height: 28,
      color: 'accent',
      outline: true,
    })
  }
  shapes.push({ kind: 'text', x: 0, y: 198, text: inHand(experiment).slice(0, LINE), color: 'accent' })
  shapes.push({ kind: 'text', x: 0, y: 209, text: `cup: ${colorOf(cup)}`, color: 'dim' })
  shapes.push({
    kind: 'rect',
    x: 90,
    y: 201,
    width: 20,
    height: 9,
    color: colors[colorOf(cup)],
    outline: cup.length === 0,
  })
  const verdict = ending === null ? message : ending.solved ? 'solved' : 'not solved'
  const color = ending === null ? (failed ? 'warning' : 'dim') : ending.solved ? 'green' : 'failure'
  shapes.push({ kind: 'text', x: 0, y: 221, text: `${verdict}${failed ? ': failed' : ''}`.slice(0, LINE), color })
  return { width: WIDTH, height: HEIGHT, shapes }
}

function drawThing(experiment: Experiment, thing: number, x: number, y: number): SceneShape[] {
  const matter = matterOf(experiment, thing)
  if (matter !== null) {
    const phase = phaseOf(matter)
    const height = phase === 'solid' ? 20 : 9
    const color = phase === 'boiling' ? 'warning' : thing === WATER ? 'blue' : 'ink'
    return [{ kind: 'rect', x, y: y - height, width: 20, height, color, outline: phase === 'melting' }]
  }
  if (thing === PLANT) {
    const { moisture, growth, rotten } = experiment.lab.plant
    const height = 4 + (14 * Math.min(growth, FLOWERING)) / FLOWERING
    return [
      { kind: 'rect', x, y: y - 6, width: 20, height: 6, color: moisture > DRY ? 'ink' : 'line' },
      { kind: 'rect', x: x + 9, y: y - 6 - height, width: 2, height, color: rotten ? 'dim' : 'green' },
      ...(growth < FLOWERING
        ? []
        : [{ kind: 'circle' as const, x: x + 10, y: y - 6 - height, radius: 5, color: 'purple' as const }]),
    ]
  }
  if (thing < FIRST_SPECIMEN) {
    return [{ kind: 'rect', x, y: y - 14, width: 16, height: 14, color: colors[paints[thing - FIRST_PAINT]] }]
  }
  const { alive } = experiment.notes[thing]
  const color = alive === undefined ? 'dim' : alive ? 'green' : 'ink'
  return [{ kind: 'circle', x: x + 10, y: y - 9, radius: 8, color, outline: alive === undefined }]
}

function inHand(experiment: Experiment): string {
  const { taken, things, notes } = experiment
  if (taken === null) return 'nothing in hand'
  const matter = matterOf(experiment, taken)
  const reading = readingOf(experiment, taken)
  const parts = [
    things[taken],
    matter === null ? '' : phaseOf(matter),
    reading === null ? '' : `${Math.round(reading)}°`,
    ...found(notes[taken]),
  ]
  return parts.filter((part) => part !== '').join(', ')
}

function found({ conducts, acidity, meltedAt, alive }: Notes): string[] {
  return [
    conducts === undefined ? '' : conducts ? 'conducts' : 'insulates',
    acidity ?? '',
    meltedAt === undefined ? '' : `melts at ${Math.round(meltedAt)}°`,
    alive === undefined ? '' : alive ? 'alive' : 'lifeless',
  ]
}
