/** Matter that takes up heat, melts and boils; a plant that needs water and light. A step is a minute. */

export const places = ['bench', 'stove', 'freezer', 'window'] as const
export type Place = (typeof places)[number]

/** Degrees Celsius around a thing, and the share of the difference that it takes on in a minute. */
const surroundings: { [Each in Place]: { degrees: number; rate: number } } = {
  bench: { degrees: 20, rate: 0.06 },
  stove: { degrees: 180, rate: 0.14 },
  freezer: { degrees: -25, rate: 0.25 },
  window: { degrees: 24, rate: 0.06 },
}

export type Matter = {
  degrees: number
  meltsAt: number
  boilsAt: number
  /** Shares that have melted and boiled away; heat goes into them before the temperature rises on. */
  molten: number
  boiled: number
}
export type Phase = 'solid' | 'melting' | 'liquid' | 'boiling'

/** Heat that melting or freezing takes, in degrees of warming; boiling away takes more. */
const MELTING_HEAT = 24
const BOILING_HEAT = 150

export function phaseOf({ molten, boiled }: Matter): Phase {
  if (boiled > 0) return 'boiling'
  if (molten >= 1) return 'liquid'
  return molten > 0 ? 'melting' : 'solid'
}

/** A minute at a place. Changes the matter. */
export function passHeat(matter: Matter, place: Place): void {
  const { degrees, rate } = surroundings[place]
  let heat = rate * (degrees - matter.degrees)
  if (heat > 0) {
    heat = warm(matter, heat, matter.meltsAt, 'molten', MELTING_HEAT)
    heat = warm(matter, heat, matter.boilsAt, 'boiled', BOILING_HEAT)
  } else {
    heat = -cool(matter, -heat, matter.boilsAt, 'boiled', BOILING_HEAT)
    heat = -cool(matter, -heat, matter.meltsAt, 'molten', MELTING_HEAT)
  }
  matter.degrees += heat
}

/** Warms up to a change of phase and through it; returns the heat that is left for warming. */
function warm(matter: Matter, heat: number, at: number, share: 'molten' | 'boiled', needed: number): number {
  const left = matter.degrees + heat - at
  if (matter[share] >= 1 || left <= 0) return heat
  const used = Math.min(left, (1 - matter[share]) * needed)
  matter[share] = settle(matter[share] + used / needed)
  return heat - used
}

/** The same downwards. */
function cool(matter: Matter, heat: number, at: number, share: 'molten' | 'boiled', needed: number): number {
  const left = at - (matter.degrees - heat)
  if (matter[share] <= 0 || left <= 0) return heat
  const used = Math.min(left, matter[share] * needed)
  matter[share] = settle(matter[share] - used / needed)
  return heat - used
}

/** Shares that rounding has kept from 0 or 1. */
function settle(share: number): number {
  if (share > 1 - 1e-9) return 1
  return share < 1e-9 ? 0 : share
}

export type Plant = {
  /** 0 to 1. */
  moisture: number
  /** Minutes of growth; it flowers at FLOWERING. */
  growth: number
  rotten: boolean
}
export const FLOWERING = 5
export const DRY = 0.3
const WET = 0.95
const WATERING = 0.45
const DRYING = 0.15

/** A minute: it grows at the window while its soil is neither dry nor wet, and dries out. */
export function passTime(plant: Plant, place: Place): void {
  if (place === 'window' && plant.moisture >= DRY && !plant.rotten) plant.growth += 1
  plant.moisture = Math.max(0, plant.moisture - (place === 'window' ? DRYING : DRYING / 3))
}

/** Too much water is the end of it. */
export function waterPlant(plant: Plant): void {
  plant.moisture += WATERING
  if (plant.moisture > WET) plant.rotten = true
}

export const paints = ['red', 'yellow', 'blue'] as const
export type Paint = (typeof paints)[number]
const mixtures: readonly { color: string; of: readonly Paint[] }[] = [
  { color: 'orange', of: ['red', 'yellow'] },
  { color: 'green', of: ['yellow', 'blue'] },
  { color: 'violet', of: ['red', 'blue'] },
]
export const mixedColors = mixtures.map(({ color }) => color)

export function paintsOf(color: string): readonly Paint[] {
  const mixture = mixtures.find((each) => each.color === color)
  if (mixture === undefined) throw new Error(`no mixture ${color}`)
  return mixture.of
}

/** The color in a cup; all three make brown. */
export function colorOf(cup: readonly Paint[]): string {
  const poured = paints.filter((paint) => cup.includes(paint))
  if (poured.length === 1) return poured[0]
  if (poured.length === paints.length) return 'brown'
  return mixtures.find(({ of }) => of.every((paint) => poured.includes(paint)))?.color ?? 'empty'
}
