import { AgentGymError, type HostedCall } from '@agentgym/contract'
import { inBackground } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { admitCall, type Call, identifyCall } from './admit-call.ts'
import { callDesk } from './call-desk.ts'
import { agentUnavailable } from './call-failures.ts'
import { dropCall, endUnanswered, readAnswer } from './hosted-calls.store.ts'
import type { HostingTimes } from './hosting-times.ts'

/**
 * What an agent does upon an observation: admits the call and waits until a worker has answered it, for 30 s at most. Throws
 * what `admitCall` throws, `agent_unavailable`, `agent_failed`, and what a worker finds wrong with the observation. `signal`
 * aborts when the client has gone: a call that no worker has by then is dropped.
 */
export async function callAgent(
  services: Services,
  call: Call,
  { times, signal }: { times: HostingTimes; signal: AbortSignal },
): Promise<HostedCall> {
  const startedMs = performance.now()
  const note = (outcome: string) => services.metrics.hostedCall(outcome, (performance.now() - startedMs) / 1000)
  try {
    const answer = await answerOf(services, call, { times, signal })
    note('answered')
    return JSON.parse(answer)
  } catch (error) {
    note(signal.aborted ? 'dropped' : error instanceof AgentGymError ? error.code : 'internal_error')
    throw error
  }
}

async function answerOf(
  services: Services,
  call: Call,
  { times, signal }: { times: HostingTimes; signal: AbortSignal },
): Promise<string> {
  const { database, log } = services
  const desk = callDesk(services, times)
  const { actor, id } = identifyCall(call)
  const place = desk.awaitCall(id)
  try {
    const admitted = await admitCall(services, { ...call, actor, id }, times)
    if (admitted !== null) desk.admitted(admitted.versionId)
    const endsAt = performance.now() + times.waitMs
    let answer = admitted === null ? await readAnswer(database.query, id) : undefined
    while (answer === undefined) {
      const leftMs = Math.min(endsAt, desk.endsAt) - performance.now()
      if (leftMs > 0) await place.news(leftMs, signal)
      else await endUnanswered(database.query, { id })
      if (signal.aborted) break
      answer = await readAnswer(database.query, id)
    }
    if (typeof answer !== 'string') throw agentUnavailable(nameOf(call), false)
    return answer
  } finally {
    place.leave()
    if (signal.aborted && !desk.isAwaited(id)) inBackground(log, 'dropping a call', () => dropCall(database.query, id))
  }
}

function nameOf({ name, request }: Call): { name: string; version: string } {
  return { name, version: request.version ?? 'latest' }
}
