import { setTimeout as sleep } from 'node:timers/promises'
import { watchRun } from '@agentgym/client'
import { AgentGymError, type Run, type RunEvent, type RunEventData, type TrainingEvent } from '@agentgym/contract'
import type { Connection } from '../account/connection.ts'
import { clientOf, explained } from '../registry/call-api.ts'
import type { TrainingView } from '../training-view/training-view.ts'
import { hasEnded, readRun, runPath } from './run-api.ts'

export type EndedRun = { run: Run; completed: RunEventData['completed'] | undefined }

/** How often to poll for values without events: the position in the queue and the cost. */
const askEveryMs = { queued: 3_000, running: 10_000 }
const askAgainMs = 1_000

/**
 * Shows a run from its first event until it ends; resolves to the final run. Waits for a server that is unreachable. Throws the server's errors, and what `signal` was aborted with.
 */
export async function followRun(
  connection: Connection,
  run: Run,
  { view, signal }: { view: TrainingView; signal: AbortSignal },
): Promise<EndedRun> {
  const figures = new RunProgressView(connection, run, view, signal)
  let seen = 0
  let completed: EndedRun['completed']
  const take = async (event: RunEvent) => {
    seen = event.seq
    if (event.type === 'completed') completed = event.data
    const training = trainingEventOf(event, connection, run.id)
    if (training !== undefined) return view.event(training)
    view.remote({ run: await figures.asOf(event), event })
  }
  const onInterruption = (error: unknown) => {
    // A stream that ended normally does not count as silence.
    if (error instanceof AgentGymError) view.remote({ run: figures.run, event: null, silent: true })
  }
  view.remote({ run, event: null })
  const asking = figures.keepAsking()
  // Awaited below; until then a rejection must not count as unhandled.
  asking.catch(() => {})
  try {
    do {
      const events = watchRun(clientOf(connection), run.id, { after: seen, signal, onInterruption })
      await explained(connection, async () => {
        for await (const event of events) await take(event)
      })
    } while (!hasEnded(await figures.ask()))
    return { run: figures.run, completed }
  } finally {
    figures.stop()
    await asking
  }
}

/** The event as local training reports it; undefined for events about the run itself. */
function trainingEventOf(event: RunEvent, { server }: Connection, id: string): TrainingEvent | undefined {
  switch (event.type) {
    case 'progress':
      return event.data
    case 'evaluation':
      return { event: 'evaluation', steps: event.data.steps, evaluation: event.data.evaluation }
    case 'checkpoint':
      return {
        event: 'checkpoint',
        steps: event.data.steps,
        path: `${server}${runPath(id)}/checkpoints/${event.data.iteration}`,
      }
    default:
      return undefined
  }
}

/** The run as last read. */
class RunProgressView {
  readonly #connection: Connection
  readonly #view: TrainingView
  readonly #signal: AbortSignal
  readonly #stopped = new AbortController()
  run: Run

  constructor(connection: Connection, run: Run, view: TrainingView, signal: AbortSignal) {
    this.#connection = connection
    this.run = run
    this.#view = view
    this.#signal = AbortSignal.any([signal, this.#stopped.signal])
  }

  /** Retries until the server responds: it may be restarting. */
  async ask(): Promise<Run> {
    for (;;) {
      try {
        this.run = await readRun(this.#connection, this.run.id, this.#signal)
        return this.run
      } catch (error) {
        const passing =
          error instanceof AgentGymError && (error.code === 'server_unreachable' || error.code === 'rate_limited')
        if (!passing) throw error
        this.#view.remote({ run: this.run, event: null, silent: true })
        await sleep(askAgainMs, undefined, { signal: this.#signal })
      }
    }
  }

  /** The run after an event; replayed events need no request. */
  async asOf(event: RunEvent): Promise<Run> {
    return event.seq > this.run.last_event ? this.ask() : this.run
  }

  async keepAsking(): Promise<void> {
    while (!hasEnded(this.run)) {
      try {
        const pauseMs = this.run.state === 'queued' ? askEveryMs.queued : askEveryMs.running
        await sleep(pauseMs, undefined, { signal: this.#signal })
        this.#view.remote({ run: await this.ask(), event: null })
      } catch (error) {
        if (this.#signal.aborted) return
        // If the server refuses this, it refuses the events too.
        if (!(error instanceof AgentGymError)) throw error
      }
    }
  }

  stop(): void {
    this.#stopped.abort()
  }
}
