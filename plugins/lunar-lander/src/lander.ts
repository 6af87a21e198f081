/**
 * The lander's dynamics: one rigid body with two sprung feet. Lengths in meters, angles in radians, counterclockwise.
 *
 * Masses, engines and terrain are those of Gymnasium's LunarLander-v3. There, Box2D solves a hull and two legs on motors;
 * here, each foot is a spring with a damper, which needs no solver and gives the same bits everywhere.
 */
import type { Rng } from '@agentgym/scenario'

export const WIDTH = 20
export const HEIGHT = 400 / 30
export const PAD_HEIGHT = HEIGHT / 4
/** Half the width of the pad. */
export const PAD_REACH = 2
/** Seconds of one step. */
export const STEP_SECONDS = 1 / 50

const GRAVITY = 10
/** Hull and legs together. */
const MASS = 4.9589
/** Moment of inertia about the center of mass. */
const INERTIA = 0.912
/** The center of mass above the hull's origin, along the body. */
const CENTER = 0.0898
const MAIN_ENGINE_POWER = 13
const SIDE_ENGINE_POWER = 0.6
const MAIN_ENGINE_DEPTH = 4 / 30
const SIDE_ENGINE_REACH = 12 / 30
/** Random shift of an engine's impulse, in each direction. */
const DISPERSION = 1 / 30
const STARTING_IMPULSE = 1000 * STEP_SECONDS

/** From the hull's origin: to the right, and up. */
export const HULL = [
  [-14 / 30, 17 / 30],
  [-17 / 30, 0],
  [-17 / 30, -10 / 30],
  [17 / 30, -10 / 30],
  [17 / 30, 0],
  [14 / 30, 17 / 30],
] as const
export const FEET = [
  [-0.92, -0.63],
  [0.92, -0.63],
] as const
const SPRING = 800
const DAMPER = 90
/** A foot collapses beyond this force, as a leg on a motor does: in a fast fall the hull hits the ground. */
const STRENGTH = 75
const FRICTION = 0.3
const FRICTION_DAMPER = 50
/** Substeps of a step in which a foot is close enough to touch the ground. */
const CONTACT_SUBSTEPS = 8
const CONTACT_DISTANCE = 0.4

export const CHUNKS = 11
const RESTING_SPEED = 0.05
const RESTING_STEPS = 25

export type Engine = 'none' | 'left' | 'main' | 'right'

export type Lander = {
  /** Of the center of mass. */
  x: number
  y: number
  vx: number
  vy: number
  angle: number
  spin: number
  /** Which foot touches the ground: left, right. */
  contacts: [boolean, boolean]
  /** Steps that it has been at rest. */
  restingSteps: number
  crashed: boolean
  /** Height of the ground at evenly spaced positions. */
  ground: Float64Array
}

/** A lander at the top, pushed in a random direction, above random hills with a level pad in the middle. */
export function launch(rng: Rng): Lander {
  const push = () => ((2 * rng() - 1) * STARTING_IMPULSE) / MASS
  return {
    x: WIDTH / 2,
    y: HEIGHT + CENTER,
    vx: push(),
    vy: push(),
    angle: 0,
    spin: 0,
    contacts: [false, false],
    restingSteps: 0,
    crashed: false,
    ground: randomGround(rng),
  }
}

function randomGround(rng: Rng): Float64Array {
  const heights = Array.from({ length: CHUNKS + 1 }, () => (rng() * HEIGHT) / 2)
  const middle = Math.floor(CHUNKS / 2)
  for (let chunk = middle - 2; chunk <= middle + 2; chunk += 1) heights[chunk] = PAD_HEIGHT
  // The height before the first is the last one, as in Gymnasium.
  return Float64Array.from({ length: CHUNKS }, (_, i) => {
    const before = i === 0 ? heights[CHUNKS] : heights[i - 1]
    return 0.33 * (before + heights[i] + heights[i + 1])
  })
}

/** Height of the ground at `x`. */
export function groundAt({ ground }: Pick<Lander, 'ground'>, x: number): number {
  const place = (x / WIDTH) * (CHUNKS - 1)
  const chunk = Math.min(CHUNKS - 2, Math.max(0, Math.floor(place)))
  return ground[chunk] + (ground[chunk + 1] - ground[chunk]) * (place - chunk)
}

/** Where a point of the body is: `right` and `up` from the hull's origin. */
export function pointOf({ x, y, angle }: Lander, right: number, up: number): { x: number; y: number } {
  const sin = Math.sin(angle)
  const cos = Math.cos(angle)
  return { x: x + right * cos - (up - CENTER) * sin, y: y + right * sin + (up - CENTER) * cos }
}

/** One step of 1/50 s with an engine running. Always draws two random numbers. */
export function fly(lander: Lander, engine: Engine, rng: Rng): void {
  fireEngine(lander, engine, (2 * rng() - 1) * DISPERSION, (2 * rng() - 1) * DISPERSION)
  const substeps = nearGround(lander) ? CONTACT_SUBSTEPS : 1
  const dt = STEP_SECONDS / substeps
  lander.contacts = [false, false]
  for (let substep = 0; substep < substeps; substep += 1) {
    lander.vy -= GRAVITY * dt
    if (substeps > 1) for (const foot of [0, 1] as const) pushFoot(lander, foot, dt)
    lander.x += lander.vx * dt
    lander.y += lander.vy * dt
    lander.angle += lander.spin * dt
  }
  lander.crashed = HULL.some(([right, up]) => {
    const corner = pointOf(lander, right, up)
    return corner.y <= groundAt(lander, corner.x)
  })
  const { vx, vy, spin, contacts } = lander
  const still = Math.hypot(vx, vy) < RESTING_SPEED && Math.abs(spin) < RESTING_SPEED
  lander.restingSteps = still && (contacts[0] || contacts[1]) ? lander.restingSteps + 1 : 0
}

export function isAtRest({ restingSteps }: Lander): boolean {
  return restingSteps >= RESTING_STEPS
}

/** The engine's impulse, with Gymnasium's points of attack; `along` and `across` are its random shifts. */
function fireEngine(lander: Lander, engine: Engine, along: number, across: number): void {
  if (engine === 'none') return
  const sin = Math.sin(lander.angle)
  const cos = Math.cos(lander.angle)
  const main = engine === 'main'
  const side = engine === 'left' ? -1 : 1
  const up = main ? MAIN_ENGINE_DEPTH + 2 * along : along
  const right = main ? across : 3 * across + side * SIDE_ENGINE_REACH
  const power = main ? MAIN_ENGINE_POWER : SIDE_ENGINE_POWER
  const impulseX = power * (right * cos - up * sin)
  const impulseY = power * (right * sin + up * cos)
  // From the center of mass. Side engines fire above the hull's origin, and not quite along the body.
  const armX = -right * cos + (up + CENTER) * sin - (main ? 0 : (17 / 30) * sin)
  const armY = -right * sin - (up + CENTER) * cos + (main ? 0 : (14 / 30) * cos)
  lander.vx += impulseX / MASS
  lander.vy += impulseY / MASS
  lander.spin += (armX * impulseY - armY * impulseX) / INERTIA
}

function nearGround(lander: Lander): boolean {
  return FEET.some(([right, up]) => {
    const foot = pointOf(lander, right, up)
    return foot.y - groundAt(lander, foot.x) < CONTACT_DISTANCE
  })
}

/** Spring, damper and friction of a foot that is below the ground. */
function pushFoot(lander: Lander, index: 0 | 1, dt: number): void {
  const foot = pointOf(lander, FEET[index][0], FEET[index][1])
  const slope = (groundAt(lander, foot.x + 0.01) - groundAt(lander, foot.x - 0.01)) / 0.02
  const length = Math.hypot(1, slope)
  const normalX = -slope / length
  const normalY = 1 / length
  const depth = (groundAt(lander, foot.x) - foot.y) * normalY
  if (depth <= 0) return
  lander.contacts[index] = true
  const armX = foot.x - lander.x
  const armY = foot.y - lander.y
  const velocityX = lander.vx - lander.spin * armY
  const velocityY = lander.vy + lander.spin * armX
  const approach = -(velocityX * normalX + velocityY * normalY)
  const push = Math.min(STRENGTH, Math.max(0, SPRING * depth + DAMPER * approach))
  const sliding = velocityX * normalY - velocityY * normalX
  const limit = FRICTION * push
  const friction = Math.min(limit, Math.max(-limit, -FRICTION_DAMPER * sliding))
  const forceX = push * normalX + friction * normalY
  const forceY = push * normalY - friction * normalX
  lander.vx += (forceX / MASS) * dt
  lander.vy += (forceY / MASS) * dt
  lander.spin += ((armX * forceY - armY * forceX) / INERTIA) * dt
}
