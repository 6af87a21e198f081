import type { CommandIo } from './command-io.ts'

export type Interrupt = {
  signal: AbortSignal
  /** What Ctrl-C does, for a view that reads keys in raw mode. */
  interrupt(): void
  release(): void
}

// npm and other launchers pass on an interrupt that the terminal has already sent to the whole process group.
const echoMs = 200

/**
 * The first interrupt aborts `signal`, so that the work ends cleanly; a second one ends the process at once with the
 * shell's status for it, 130. SIGTERM and SIGHUP count as interrupts.
 */
export function cancelOnInterrupt({ io }: { io: CommandIo }, onFirst: () => void = () => {}): Interrupt {
  const controller = new AbortController()
  let firstAt = 0
  const interrupt = () => {
    if (!controller.signal.aborted) {
      firstAt = performance.now()
      onFirst()
      controller.abort()
    } else if (performance.now() - firstAt > echoMs) {
      io.exit(130)
    }
  }
  return { signal: controller.signal, interrupt, release: io.onInterrupt(interrupt) }
}
