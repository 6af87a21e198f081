import type { EnvironmentSession, SessionOptions } from './environment-session.ts'
import { OpenEnvSession } from './openenv-session.ts'
import { VectorSession } from './vector-session.ts'

/** Opens a session by the protocol of its source. Rejects with an AgentGymError. */
export function openSession(options: SessionOptions): Promise<EnvironmentSession> {
  const { endpoint } = options.source
  return endpoint.protocol === 'vector' ? VectorSession.open(options, endpoint) : OpenEnvSession.open(options, endpoint)
}
