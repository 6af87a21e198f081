import { type AgentGymError, type ErrorCode, errorCatalogue } from '@agentgym/contract'
import { type Phase, phases } from '@agentgym/scenario/engine'
import type { Place } from './board.ts'
import { formatMs, scenarioError } from './scenario-fault.ts'
import type { ScenarioIdentity } from './vector-environment.ts'

/** What the harness says of a fault; a guest cannot forge more than its strings. */
type ReportedFault = {
  code: string
  message: string
  hint: string
  phase: Phase
  environment?: number
  step?: number
  episode?: number
  /** The author's stack. */
  detail: string
}

/** A fault that the engine found. Its code `harness` is a mistake of ours: an assertion, not an expected failure. */
export function explainFault(identity: ScenarioIdentity, text: string): Error {
  const fault = JSON.parse(text) as ReportedFault
  const { phase, environment, step, episode, message } = fault
  if (!Object.hasOwn(errorCatalogue, fault.code) || !phases.includes(phase)) return new Error(message)
  const place: Place = phase === 'load' || phase === 'define' ? { phase } : { phase, environment, step, episode }
  // An allocation that the limit refused is memory, whatever V8 calls it.
  const memory = fault.code === 'scenario_threw' && message.includes('Array buffer allocation failed')
  return scenarioError(identity, {
    code: memory ? 'scenario_out_of_memory' : (fault.code as ErrorCode),
    place,
    what: message,
    hint: fault.hint === '' ? undefined : fault.hint,
    data: fault.detail === '' ? undefined : { stack: fault.detail },
  })
}

/** An error that isolated-vm threw instead of returning: a limit was reached, or a rejection was left unhandled. */
export function explainCrossing(
  identity: ScenarioIdentity,
  place: Place,
  error: unknown,
  timeoutMs: number,
): AgentGymError {
  const message = error instanceof Error ? error.message : `${typeof error} that is not an Error`
  if (message === 'Script execution timed out.') {
    return scenarioError(identity, {
      code: 'scenario_timeout',
      place,
      what: `${place.phase} did not return within ${formatMs(timeoutMs)}`,
      data: { limit_ms: timeoutMs },
    })
  }
  if (message.includes('disposed during execution due to memory limit')) {
    const what = `${place.phase} used more memory than the isolate may`
    return scenarioError(identity, { code: 'scenario_out_of_memory', place, what })
  }
  if (message.startsWith('Isolate was disposed') || message.startsWith('Isolate is disposed')) {
    return scenarioError(identity, { code: 'scenario_crashed', place, what: `${place.phase} ended the isolate` })
  }
  return scenarioError(identity, {
    code: 'scenario_threw',
    place,
    what: `${place.phase} left a rejected promise unhandled: ${message}`,
    hint: 'Await every promise, or catch what it rejects with.',
  })
}

/** The bundle does not compile; nothing of it has run. */
export function explainSyntax(identity: ScenarioIdentity, error: unknown): AgentGymError {
  const message = error instanceof Error ? error.message : 'it is no script'
  return scenarioError(identity, {
    code: 'scenario_invalid',
    place: { phase: 'load' },
    what: `the bundle does not compile: ${message}`,
    hint: 'Build it again with `agentgym scenario build`.',
  })
}
