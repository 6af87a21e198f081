export type CurvePoint = {
  /** Environment steps. */
  steps: number
  /** Mean return of the last 100 ended episodes; null before the first. */
  return_mean: number | null
}

const MAX_POINTS = 400

/** Keeps a curve short enough to draw and to checkpoint: beyond 400 points every second one is dropped, never the last. */
export function appendToCurve(curve: CurvePoint[], point: CurvePoint): CurvePoint[] {
  const extended = [...curve, point]
  return extended.length <= MAX_POINTS ? extended : extended.filter((_, i) => i % 2 === (extended.length - 1) % 2)
}
