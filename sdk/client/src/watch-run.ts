import { AgentGymError, type RunEvent, runEventSchema } from '@agentgym/contract'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import type { Client } from './create-client.ts'

export type WatchOptions = {
  /** `seq` of the last event already seen. Default: 0, all events. */
  after?: number
  signal?: AbortSignal
  /** The connection broke or the server did not respond; it is retried in `retryMs`. */
  onInterruption?: (error: unknown, retryMs: number) => void
}

/** The server sends something every 15 s, so a connection that is silent for longer is dead. */
const SILENCE_MS = 45_000
const FIRST_RETRY_MS = 250
const LONGEST_RETRY_MS = 15_000
/** Final events. A run that is out of budget can be resumed. */
const finalTypes: readonly RunEvent['type'][] = ['completed', 'failed', 'cancelled']

/**
 * A run's events in order, from the first or after `after`, each once, until the run ends. Reconnects for as long as it
 * takes; stop it with `signal`, whose reason is thrown. Throws errors that retrying cannot fix: `run_not_found`,
 * `unauthenticated`, `forbidden`, `request_invalid`.
 */
export async function* watchRun(
  client: Client,
  id: string,
  { after = 0, signal, onInterruption = () => {} }: WatchOptions = {},
): AsyncGenerator<RunEvent, void, undefined> {
  let seen = after
  let failures = 0
  for (;;) {
    signal?.throwIfAborted()
    let interruption: unknown
    try {
      const connection = await connect(client, id, seen, signal)
      if (connection === undefined) return
      for await (const event of connection) {
        failures = 0
        if (event.seq <= seen) continue
        seen = event.seq
        yield event
        if (finalTypes.includes(event.type)) return
      }
      interruption = new Error('The server ended the stream.')
    } catch (error) {
      signal?.throwIfAborted()
      if (!isPassing(error)) throw error
      interruption = error
    }
    const retryMs = retryAfter(interruption) ?? backoff(failures++)
    onInterruption(interruption, retryMs)
    await pause(retryMs, signal)
  }
}

/** The events after `seen` until the connection ends; undefined if the run has ended and there are no more. */
async function connect(
  client: Client,
  id: string,
  seen: number,
  signal: AbortSignal | undefined,
): Promise<AsyncIterable<RunEvent> | undefined> {
  const silence = new AbortController()
  const response = await unlessSilent(
    client.send(`/v1/runs/${encodeURIComponent(id)}/events`, {
      headers: { accept: 'text/event-stream', 'last-event-id': String(seen) },
      signal: signal === undefined ? silence.signal : AbortSignal.any([signal, silence.signal]),
    }),
    silence,
  )
  return response.status === 204 || response.body === null ? undefined : events(response.body, silence)
}

async function* events(
  body: ReadableStream<Uint8Array>,
  silence: AbortController,
): AsyncGenerator<RunEvent, void, undefined> {
  const messages: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (message) => messages.push(message) })
  const decoder = new TextDecoder()
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await unlessSilent(reader.read(), silence)
      if (done) return
      parser.feed(decoder.decode(value, { stream: true }))
      for (const { data } of messages.splice(0)) {
        const event = runEventSchema.safeParse(JSON.parse(data))
        // A newer server may send events this client does not know.
        if (event.success) yield event.data
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** Aborts a silent connection. The time the consumer spends on an event does not count. */
async function unlessSilent<Result>(work: Promise<Result>, silence: AbortController): Promise<Result> {
  const timer = setTimeout(() => silence.abort(new Error('The server has gone silent.')), SILENCE_MS)
  try {
    return await work
  } finally {
    clearTimeout(timer)
  }
}

/** Whether retrying may help: no response, a broken connection, or a server error. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof AgentGymError)) return !(error instanceof SyntaxError)
  const { status } = error.data
  return error.code === 'server_unreachable' || status === 429 || (typeof status === 'number' && status >= 500)
}

function retryAfter(error: unknown): number | undefined {
  const seconds = error instanceof AgentGymError ? error.data.retry_after_seconds : undefined
  return typeof seconds === 'number' ? seconds * 1000 : undefined
}

/** Exponential backoff with jitter, so that many watchers do not reconnect at once. */
function backoff(failures: number): number {
  const longest = Math.min(FIRST_RETRY_MS * 2 ** failures, LONGEST_RETRY_MS)
  return longest * (0.5 + Math.random() / 2)
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  const wake = () => resolve()
  signal?.addEventListener('abort', wake)
  await promise
  clearTimeout(timer)
  signal?.removeEventListener('abort', wake)
}
