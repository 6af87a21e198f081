import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { CommandContext } from '../command-context.ts'

const entry = fileURLToPath(new URL('../main.ts', import.meta.url))
/** What a worker may know of our environment: neither database nor keys are among it. */
const inherited =
  /^(PATH|HOME|USER|TMPDIR|TERM|COLUMNS|LANG|LC_.*|NO_COLOR|FORCE_COLOR|LIBTORCH|OTEL_.*|AGENTGYM_(HOME|WORKER_.*))$/
const shortestPauseMs = 1_000
const longestPauseMs = 30_000
/** Whoever lived that long was well: the next failure is a new one. */
const healthyMs = 60_000

export type SupervisedWorker = { stop(): Promise<void> }

/** Runs `agentgym worker` in a process of its own, and again when it ends, until `stop`. */
export function superviseWorker(server: string, token: string, context: CommandContext): SupervisedWorker {
  let stopping = false
  let child: ChildProcess | undefined
  let timer: NodeJS.Timeout | undefined
  let pauseMs = shortestPauseMs
  let ended: Promise<void> = Promise.resolve()

  const start = () => {
    const startedAt = performance.now()
    const running = startWorker(server, token, context)
    child = running
    context.sayJson({ event: 'worker_started', pid: running.pid })
    ended = new Promise<void>((resolve) => {
      running.once('error', () => resolve())
      running.once('exit', () => resolve())
    }).then(() => {
      if (stopping) return
      if (performance.now() - startedAt > healthyMs) pauseMs = shortestPauseMs
      context.say(`${context.terminal.symbols.warning} The worker ended; another one starts in ${pauseMs / 1000} s`)
      context.sayJson({ event: 'worker_restarts', pause_ms: pauseMs })
      timer = setTimeout(start, pauseMs)
      pauseMs = Math.min(2 * pauseMs, longestPauseMs)
    })
  }
  start()
  return {
    stop: async () => {
      stopping = true
      clearTimeout(timer)
      child?.kill('SIGTERM')
      await ended
    },
  }
}

function startWorker(server: string, token: string, { json, verbose, color, io }: CommandContext): ChildProcess {
  const kept = Object.entries(io.environment).filter(([name]) => inherited.test(name))
  const flags = [...(json ? ['--json'] : []), ...(verbose ? ['--verbose'] : []), ...(color ? [] : ['--no-color'])]
  return spawn(process.execPath, ['--no-node-snapshot', entry, 'worker', '--server', server, ...flags], {
    env: { ...Object.fromEntries(kept), AGENTGYM_TOKEN: token },
    // The channel carries nothing: it breaks when we end, and then the worker ends too.
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // A process group of its own: Ctrl-C in a terminal reaches the whole group, and a second signal ends a worker at once.
    detached: true,
  })
}
