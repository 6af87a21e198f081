import { shownNumber } from './shown-number.ts'

/** 1,200,000 as 1.2 M. */
export function stepCount(steps: number): string {
  if (steps >= 1e6) return `${shownNumber(steps / 1e6)} M`
  return steps >= 1e3 ? `${shownNumber(steps / 1e3)} k` : String(steps)
}
