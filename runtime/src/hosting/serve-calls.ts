import { readAgentWithModel } from '@agentgym/agent/engine'
import { answerCalls, type Client, leaseCalls } from '@agentgym/client'
import { AgentGymError, type CallAnswer, type ErrorReport, type LeasedCalls } from '@agentgym/contract'
import { publicReport } from '../worker/failure-report.ts'
import { inFolder, obtainPackage } from '../worker/obtain-package.ts'
import {
  elapsedMs,
  isLost,
  isRefused,
  isTransient,
  leaseLost,
  now,
  pause,
  retryAfterMs,
  withinTime,
} from '../worker/server-requests.ts'
import { agentFiles } from '../worker/tarball.ts'
import type { CallEvent, OnWorkerEvent } from '../worker/worker-event.ts'
import type { AgentWithModel, ServedAgentLimits } from './served-agent.ts'
import { ServedAgents } from './served-agents.ts'

export type ServingOptions = {
  /** Agents loaded at once, each with a process; also the most batches in progress. */
  held?: number
  /** Time without a call after which an agent is unloaded. */
  idleMs?: number
  limits?: Partial<ServedAgentLimits>
  /** How long the server may keep a request for calls waiting. */
  waitMs?: number
  /** Pause before polling again a server that hosts no agents. */
  unsupportedMs?: number
}

type ServeCallsOptions = ServingOptions & {
  client: Client
  /** The worker's. */
  id: string
  name: string
  /** No further calls; those under way are answered. */
  stop: AbortSignal
  /** Ends at once: what is under way is dropped, and goes to another worker once its lease is over. */
  signal: AbortSignal
  onEvent: OnWorkerEvent
}

/** Those of the golden batch that accepted the model; a lease lasts 20 s. */
const usualLimits: ServedAgentLimits = { startMs: 20_000, deadlineMs: 10_000, processMemoryMb: 2_048 }
const answerLimitMs = 10_000
/** A server that answers sooner without calls did not wait, so the worker does. */
const shortestWaitMs = 250
const shortestRetryMs = 500
const longestRetryMs = 30_000

type Serving = Pick<ServeCallsOptions, 'client' | 'signal' | 'onEvent'> & { agents: ServedAgents; tally: CallTally }

/**
 * Answers calls of hosted agents until `stop` aborts. Long-polls for calls with one request at a time; batches are answered
 * concurrently. Rejects with `unauthenticated` or `forbidden` if the token is not a worker's.
 */
export async function serveCalls(options: ServeCallsOptions): Promise<void> {
  const { client, stop, signal, onEvent, held = 4, idleMs = 300_000 } = options
  const agents = new ServedAgents({ held, idleMs, limits: { ...usualLimits, ...options.limits } })
  const serving = { client, signal, onEvent, agents, tally: new CallTally(onEvent) }
  const abandon = () => void agents.close()
  signal.addEventListener('abort', abandon)
  const batches = new Set<Promise<void>>()
  const poll = callPoller(options, agents)
  try {
    while (!stop.aborted && !signal.aborted) {
      const leased = await poll()
      if (leased === undefined) continue
      const batch = answerBatch(serving, leased).finally(() => batches.delete(batch))
      batches.add(batch)
      // With fewer batches than loaded agents, there is always an idle one to unload.
      if (batches.size >= held) await Promise.race(batches)
    }
  } finally {
    await Promise.all(batches)
    signal.removeEventListener('abort', abandon)
    await agents.close()
    if (!signal.aborted) serving.tally.flush()
  }
}

type Leased = LeasedCalls & { leaseMs: number }

/** Polls once. Reports failures and waits before returning; throws only if the token is not a worker's. */
function callPoller(options: ServeCallsOptions, agents: ServedAgents): () => Promise<Leased | undefined> {
  const { client, id, name, onEvent, waitMs = 20_000, unsupportedMs = 60_000 } = options
  const ending = AbortSignal.any([options.stop, options.signal])
  let retryMs = shortestRetryMs
  let unsupported = false
  return async () => {
    const startedMs = performance.now()
    try {
      const leased = await withinTime(waitMs + answerLimitMs, ending, (signal) =>
        leaseCalls(client, { workerId: id, workerName: name, loaded: agents.ids.slice(-64), waitMs, signal }),
      )
      retryMs = shortestRetryMs
      unsupported = false
      const early = performance.now() - startedMs < Math.min(waitMs, shortestWaitMs)
      if (leased === undefined && early) await pause(shortestWaitMs, ending)
      return leased
    } catch (error) {
      if (ending.aborted) return undefined
      if (isRefused(error)) throw error
      if (error instanceof AgentGymError && error.code === 'endpoint_not_found') {
        if (!unsupported) onEvent({ event: 'calls_unsupported', error: error.toReport() })
        unsupported = true
        await pause(unsupportedMs, ending)
        return undefined
      }
      const pauseMs = isTransient(error) ? retryAfterMs(error, retryMs) : longestRetryMs
      onEvent({ event: 'unreachable', error: toReport(error), retry_ms: pauseMs })
      await pause(pauseMs, ending)
      retryMs = Math.min(2 * retryMs, longestRetryMs)
      return undefined
    }
  }
}

/** Never rejects: other batches and jobs continue. */
async function answerBatch(serving: Serving, leased: Leased): Promise<void> {
  const { client, signal, onEvent, tally } = serving
  const subject = `${leased.agent.name}@${leased.agent.version}`
  const lease = new CallLease(client, leased, signal)
  try {
    const answers = await answersTo(serving, leased, { lease, subject })
    for (const part of splitAnswers(answers)) {
      await lease.request((within) => answerCalls(client, leased, part, within), { limitMs: answerLimitMs })
    }
    tally.count(subject, answers)
  } catch (error) {
    if (signal.aborted) return
    const report = isLost(error)
      ? { ...toReport(error), message: 'The calls were not answered in time.' }
      : toReport(error)
    onEvent({ event: 'calls_dropped', subject, error: report })
  }
}

async function answersTo(
  { agents, onEvent }: Serving,
  { agent, calls }: Leased,
  { lease, subject }: { lease: CallLease; subject: string },
): Promise<CallAnswer[]> {
  const onFailed = (error: AgentGymError) => onEvent({ event: 'agent_failed', subject, error: error.toReport() })
  const events = { onFailed, onLoaded: () => onEvent({ event: 'agent_loaded', subject }) }
  try {
    const answers = await agents.answer({ id: agent.id, calls, obtain: () => obtainAgent(lease, agent), events })
    return answers.map((answer) =>
      'error' in answer ? { id: answer.id, error: publicReport(new AgentGymError(answer.error)) } : answer,
    )
  } catch (error) {
    // The agent must not be run at all. Failures while it runs are answers.
    if (!isAgentsFault(error)) throw error
    onFailed(error)
    return calls.map(({ id }) => ({ id, error: error.toReport() }))
  }
}

function toReport(error: unknown): ErrorReport {
  if (error instanceof AgentGymError) return error.toReport()
  const { message, stack } = error instanceof Error ? error : { message: 'a value that is not an Error was thrown' }
  return {
    code: 'internal_error',
    message: `The worker failed to answer calls: ${message.slice(0, 400)}`,
    hint: 'This is a fault of AgentGym or of the machine: please report it with the stack.',
    data: { stack },
  }
}

const requestLimitMs = 10_000
const shortestAnswerRetryMs = 100
const longestAnswerRetryMs = 2_000

/** The lease of a batch of calls, starting now. It lasts seconds and cannot be renewed; then another worker gets the calls. */
class CallLease {
  readonly client: Client
  readonly job: Pick<Leased, 'lease'>
  readonly #leaseMs: number
  readonly #signal: AbortSignal
  readonly #since = now()

  constructor(client: Client, leased: Pick<Leased, 'lease' | 'leaseMs'>, signal: AbortSignal) {
    this.client = client
    this.job = leased
    this.#leaseMs = leased.leaseMs
    this.#signal = signal
  }

  /**
   * Sends a request about the calls; retries while the lease is valid if the server is unreachable or fails.
   * Throws `lease_lost`, and what the server refuses the request for.
   */
  async request<Result>(
    send: (signal: AbortSignal) => Promise<Result>,
    { limitMs = requestLimitMs }: { limitMs?: number } = {},
  ): Promise<Result> {
    for (let retryMs = shortestAnswerRetryMs; ; retryMs = Math.min(2 * retryMs, longestAnswerRetryMs)) {
      const leftMs = this.#leaseMs - elapsedMs(this.#since)
      if (leftMs <= 0 || this.#signal.aborted) throw leaseLost()
      try {
        return await withinTime(Math.min(limitMs, leftMs), this.#signal, send)
      } catch (error) {
        if (this.#signal.aborted) throw leaseLost()
        if (!isTransient(error)) throw error
        await pause(retryAfterMs(error, retryMs), this.#signal)
      }
    }
  }
}

const everyMs = 5_000

/** Counts answers and reports them every few seconds: there may be thousands of calls. */
class CallTally {
  readonly #onEvent: (event: CallEvent) => void
  readonly #counts = new Map<string, { calls: number; failed: number }>()
  #timer: NodeJS.Timeout | undefined

  constructor(onEvent: (event: CallEvent) => void) {
    this.#onEvent = onEvent
  }

  count(subject: string, answers: CallAnswer[]): void {
    const { calls, failed } = this.#counts.get(subject) ?? { calls: 0, failed: 0 }
    const failures = answers.filter((answer) => 'error' in answer).length
    this.#counts.set(subject, { calls: calls + answers.length, failed: failed + failures })
    this.#timer ??= setTimeout(() => this.flush(), everyMs).unref()
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const [subject, counts] of this.#counts) this.#onEvent({ event: 'calls_answered', subject, ...counts })
    this.#counts.clear()
  }
}

/**
 * Downloads an agent and checks its integrity, the hash of its model and the model's structure. Nothing stays on disk. Throws `integrity_mismatch`, and what `readAgentWithModel` does for an agent that must not be run.
 */
function obtainAgent(lease: CallLease, agent: LeasedCalls['agent']): Promise<AgentWithModel> {
  return inFolder(async (folder) => {
    await obtainPackage(lease, agent, folder, agentFiles)
    const { manifest, checkedModel } = await readAgentWithModel(folder).catch((error: unknown) => {
      throw error instanceof AgentGymError ? new AgentGymError(publicReport(error, [folder])) : error
    })
    return { manifest, model: checkedModel }
  })
}

/** Whether the agent itself is invalid: it fails on every machine. */
function isAgentsFault(error: unknown): error is AgentGymError {
  if (!(error instanceof AgentGymError)) return false
  return error.code.startsWith('model_') || ['agent_invalid', 'manifest_invalid'].includes(error.code)
}

/** The server accepts 1 MiB per request; a single answer is never larger. */
const partBytes = 512 * 1_024

/** Splits answers into as few requests as their size allows: probabilities of many choices are long. */
export function splitAnswers(answers: CallAnswer[], limit = partBytes): CallAnswer[][] {
  const parts: CallAnswer[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const answer of answers) {
    const size = Buffer.byteLength(JSON.stringify(answer))
    if (bytes + size > limit) {
      parts.push([])
      bytes = 0
    }
    parts[parts.length - 1].push(answer)
    bytes += size
  }
  return parts
}
