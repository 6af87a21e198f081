export type RunClock = ReturnType<typeof startClock>

/** Counts a run's training time; `secondsBefore` are those of the parts that a resumed run continues. */
export function startClock(secondsBefore: number) {
  const started = performance.now()
  let marked = started
  return {
    /** Training time of the run, earlier parts of a resumed one included. */
    seconds: () => secondsBefore + (performance.now() - started) / 1000,
    mark: () => {
      marked = performance.now()
    },
    secondsSinceMark: () => (performance.now() - marked) / 1000,
  }
}
