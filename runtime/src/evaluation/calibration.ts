import {
  type Calibration,
  type ConfidenceMap,
  confidenceOf,
  logOdds,
  type Prediction,
  reliabilityOf,
} from '@agentgym/contract'
import type { EpisodeOutcome } from './play-episodes.ts'

/** An episode, with the probability of each choice in it. */
export type ChoosingEpisode = { chosen: Float64Array; solved: boolean }

/**
 * The episodes as calibration sees them; null where there is none to be measured: the choices have no recorded probabilities,
 * or the scenario does not report `solved`.
 */
export function choosingEpisodes(outcomes: readonly EpisodeOutcome[]): ChoosingEpisode[] | null {
  const episodes = outcomes.flatMap(({ chosen, metrics }) =>
    chosen === undefined || !Object.hasOwn(metrics, 'solved') ? [] : [{ chosen, solved: metrics.solved >= 1 }],
  )
  return episodes.length === outcomes.length && episodes.some(({ chosen }) => chosen.length > 0) ? episodes : null
}

/** How well the probabilities of choices, and the confidence made of them, predict that the episode is solved. */
export function measureCalibration(episodes: readonly ChoosingEpisode[], map: ConfidenceMap | null): Calibration {
  const predictions = (predict: (probability: number) => number): Prediction[] =>
    episodes.flatMap(({ chosen, solved }) =>
      Array.from(chosen, (probability) => ({ predicted: predict(probability), succeeded: solved })),
    )
  const raw = predictions((probability) => probability)
  return {
    choices: raw.length,
    succeeded: raw.filter(({ succeeded }) => succeeded).length,
    probability: reliabilityOf(raw),
    confidence: map === null ? null : reliabilityOf(predictions((probability) => confidenceOf(map, probability))),
  }
}

/** Newton's method ends at a step below this, or after so many. */
const CLOSE = 1e-10
const MOST_STEPS = 100
/** Digits of the numbers in agent.json. */
const DIGITS = 6

/**
 * Platt's method: the slope and intercept of a logistic regression of success on the log-odds of the probability, by maximum
 * likelihood. Two parameters, because the choices of a few hundred episodes say little more: those of one episode succeed or
 * fail together. Targets are Platt's (1999), `(solved + 1) / (solved + 2)` and `1 / (failed + 2)` in episodes, so the fit is
 * finite if all episodes end alike. Where the likeliest slope is negative, or all choices are equally probable, the slope is 0.
 */
export function fitConfidence(episodes: readonly ChoosingEpisode[], seed: number): ConfidenceMap {
  const solved = episodes.filter((episode) => episode.solved).length
  const targets = { solved: (solved + 1) / (solved + 2), failed: 1 / (episodes.length - solved + 2) }
  const points = episodes.flatMap(({ chosen, solved }) => {
    const target = solved ? targets.solved : targets.failed
    return Array.from(chosen, (probability): Point => ({ x: logOdds(probability), target }))
  })
  const [slope, intercept] = logisticRegression(points)
  const rounded = (value: number) => Number(value.toPrecision(DIGITS))
  const fit = { slope: rounded(slope), intercept: rounded(intercept) }
  return { method: 'platt', ...fit, episodes: episodes.length, choices: points.length, seed }
}

type Point = { x: number; target: number }

function logisticRegression(points: readonly Point[]): [slope: number, intercept: number] {
  const mean = points.reduce((sum, { target }) => sum + target, 0) / points.length
  const constant: [number, number] = [0, Math.log(mean / (1 - mean))]
  if (points.every(({ x }) => x === points[0].x)) return constant
  let [slope, intercept] = constant
  let loss = lossOf(points, slope, intercept)
  for (let step = 0; step < MOST_STEPS; step++) {
    const [a, b] = newtonStep(points, slope, intercept)
    // Half of it, and half again, until it gets better: the loss is convex.
    let scale = 1
    while (lossOf(points, slope - scale * a, intercept - scale * b) > loss && scale > CLOSE) scale /= 2
    slope -= scale * a
    intercept -= scale * b
    loss = lossOf(points, slope, intercept)
    if (Math.abs(scale * a) + Math.abs(scale * b) < CLOSE) break
  }
  return slope > 0 && Number.isFinite(slope) && Number.isFinite(intercept) ? [slope, intercept] : constant
}

/** Cross-entropy, without overflow. */
function lossOf(points: readonly Point[], slope: number, intercept: number): number {
  return points.reduce((sum, { x, target }) => {
    const z = slope * x + intercept
    return sum + Math.max(z, 0) - target * z + Math.log1p(Math.exp(-Math.abs(z)))
  }, 0)
}

/** The gradient divided by the Hessian. */
function newtonStep(points: readonly Point[], slope: number, intercept: number): [slope: number, intercept: number] {
  let [ga, gb, aa, ab, bb] = [0, 0, 0, 0, 0]
  for (const { x, target } of points) {
    const p = 1 / (1 + Math.exp(-(slope * x + intercept)))
    const w = p * (1 - p)
    ga += (p - target) * x
    gb += p - target
    aa += w * x * x
    ab += w * x
    bb += w
  }
  // Keeps it invertible.
  aa += CLOSE
  bb += CLOSE
  const determinant = aa * bb - ab * ab
  return [(bb * ga - ab * gb) / determinant, (aa * gb - ab * ga) / determinant]
}
