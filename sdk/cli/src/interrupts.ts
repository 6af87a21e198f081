export type Interrupt = {
  signal: AbortSignal
  /** What Ctrl-C does, for a view that reads keys in raw mode. */
  interrupt(): void
  release(): void
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
// npm and other launchers pass on an interrupt that the terminal has already sent to the whole process group.
const echoMs = 200

/**
 * The first interrupt aborts `signal`, so that the work ends cleanly; a second one ends the process at once with the
 * shell's status for it, 130. SIGTERM and SIGHUP count as interrupts.
 */
export function cancelOnInterrupt(onFirst: () => void): Interrupt {
  const controller = new AbortController()
  let firstAt = 0
  const interrupt = () => {
    if (!controller.signal.aborted) {
      firstAt = performance.now()
      onFirst()
      controller.abort()
    } else if (performance.now() - firstAt > echoMs) {
      process.exit(130)
    }
  }
  for (const signal of signals) process.on(signal, interrupt)
  return {
    signal: controller.signal,
    interrupt,
    release: () => {
      for (const signal of signals) process.off(signal, interrupt)
    },
  }
}
