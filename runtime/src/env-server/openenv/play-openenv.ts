import { AgentGymError } from '@agentgym/contract'
import type { EnvMetrics } from '../env-metrics.ts'
import type { EpisodeSession } from '../episode-session.ts'
import { readFields } from '../read-request.ts'
import {
  readWireAction,
  resetOptions,
  resetSchema,
  type WireObservation,
  wireMistake,
  wireReset,
  wireStep,
  wireTools,
} from './wire-forms.ts'

/** Begins an episode. `data` is what the client sent. Rejects with `request_invalid`. */
export async function playReset(session: EpisodeSession, data: unknown): Promise<WireObservation> {
  const turn = await session.reset(resetOptions(readFields(data ?? {}, resetSchema, 'data')))
  return wireReset(session, turn)
}

/**
 * Plays a step, or lists the tools, which needs no episode. Words that are no legal action come back as an observation that says so; other
 * mistakes and the scenario's faults reject.
 */
export async function playStep(session: EpisodeSession, data: unknown, metrics: EnvMetrics): Promise<WireObservation> {
  const { environment } = session
  const wire = readWireAction(environment, data)
  if (wire.kind === 'list_tools') return wireTools(environment)
  const startMs = performance.now()
  try {
    const turn = await session.step(wire.input)
    metrics.stepped(environment.name, 'openenv', (performance.now() - startMs) / 1_000)
    return wireStep(session, turn, wire.tool)
  } catch (error) {
    const isWords = error instanceof AgentGymError && error.code === 'action_invalid' && !('action' in wire.input)
    if (!isWords || session.turn === null) throw error
    return wireMistake(session.turn, wire.tool, error)
  }
}
