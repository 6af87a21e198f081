import type { OwnIteration } from './joined-run.ts'
import type { Threads } from './settings.ts'

/** Iterations that are looked at, after the first, which is slower. */
const LOOKED_AT = 5

/** Less than a twentieth saved is noise. */
const LEAST_GAIN = 1.05

type Measured = { together: number; alone: number; shared: number }

/**
 * Seconds of an iteration by several processes, and those that one process with `alone` threads would take, from what each
 * process measured. Playing takes as long as the slowest; a single process has its share of all the threads for it. The
 * gradient is what divides; the rest of an update (the optimizer's step, above all) every process does.
 */
export function estimateAlone(iterations: OwnIteration[], own: Threads, alone: Threads): Measured {
  const processes = iterations.length
  const mean = (name: keyof OwnIteration) => iterations.reduce((sum, one) => sum + one[name], 0) / processes
  const collect = Math.max(...iterations.map((one) => one.collectSeconds))
  const [update, gradient, shared] = [mean('updateSeconds'), mean('gradientSeconds'), mean('sharedSeconds')]
  const playing = (collect * processes * own.rollout_workers) / alone.rollout_workers
  const learning = (gradient * processes * own.learner_threads) / alone.learner_threads + update - gradient - shared
  return { together: collect + update, alone: playing + learning, shared }
}

/** Looks at a run's first iterations, and notices once where several processes take longer than one would. */
export function payWatch(own: Threads, alone: Threads, notice: (message: string, hint: string) => void) {
  const seen: Measured[] = []
  let first = true
  return (iterations: OwnIteration[]): void => {
    if (first || seen.length === LOOKED_AT) {
      first = false
      return
    }
    seen.push(estimateAlone(iterations, own, alone))
    if (seen.length < LOOKED_AT) return
    const mean = (name: keyof Measured) => (1000 * seen.reduce((sum, one) => sum + one[name], 0)) / LOOKED_AT
    if (mean('alone') >= LEAST_GAIN * mean('together')) return
    const processes = iterations.length
    notice(
      `${processes} processes do not pay here: an iteration takes ${milliseconds(mean('together'))}, of which ${milliseconds(mean('shared'))} are spent waiting for each other's gradients; one process would take about ${milliseconds(mean('alone'))}`,
      'Use --processes 1. Several processes pay for larger networks and minibatches, and for slow scenarios.',
    )
  }
}

function milliseconds(value: number): string {
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`
}
