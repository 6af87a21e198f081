import type { Readable, Writable } from 'node:stream'
import { readSecretFiles } from './secret-files.ts'

export type InputStream = Readable & { isTTY?: boolean }
export type OutputStream = Writable & { isTTY?: boolean; columns?: number; rows?: number }

/**
 * Everything that a command line takes from its surroundings. `processIo` takes it from this process; a test makes its own,
 * so that commands run in process and side by side.
 */
export type CommandIo = {
  stdin: InputStream
  stdout: OutputStream
  stderr: OutputStream
  environment: Readonly<Record<string, string | undefined>>
  /** Completes `environment`, before a command reads it; may throw an AgentGymError. */
  prepare?(): void
  /** Absolute; relative paths are resolved against it. */
  cwd: string
  /** Calls `listener` at every Ctrl-C, SIGTERM and SIGHUP. Returns a function that removes it. */
  onInterrupt(listener: () => void): () => void
  /** Ends the process without waiting for work in progress: a second interrupt, or a closed pipe. */
  exit(status: number): void
  /** The `agentgym serve` that started this command as its worker. */
  parent?: ParentProcess
}

export type ParentProcess = {
  /** Calls `listener` when the parent process is gone. Returns a function that removes it. */
  onGone(listener: () => void): () => void
  /** Closes the channel to the parent, which would keep this process alive. */
  disconnect(): void
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The streams, environment, folder and signals of this process. */
export function processIo(): CommandIo {
  const { stdin, stdout, stderr, env: environment } = process
  return {
    stdin,
    stdout,
    stderr,
    environment,
    // In the process's own: clients of other services read their credentials there.
    prepare: () => readSecretFiles(environment),
    cwd: process.cwd(),
    onInterrupt: (listener) => {
      for (const signal of signals) process.on(signal, listener)
      return () => {
        for (const signal of signals) process.off(signal, listener)
      }
    },
    exit: (status) => process.exit(status),
    ...(process.channel === undefined ? {} : { parent: parentProcess() }),
  }
}

function parentProcess(): ParentProcess {
  return {
    onGone: (listener) => {
      process.on('disconnect', listener)
      return () => process.off('disconnect', listener)
    },
    disconnect: () => {
      if (process.connected) process.disconnect()
    },
  }
}

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
