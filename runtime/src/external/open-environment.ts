import assert from 'node:assert'
import type { MessagePort } from 'node:worker_threads'
import { createSandboxedEnvironment, type SandboxedEnvironmentOptions } from '../sandbox/sandboxed-environment.ts'
import type { ScenarioCode } from '../sandbox/scenario-code.ts'
import type { VectorEnvironment } from '../sandbox/vector-environment.ts'
import { ExternalEnvironment } from './external-environment.ts'
import { type EnvironmentSource, isExternal } from './external-source.ts'

/** What training and evaluation play, wherever it runs. */
export type PlayedEnvironment = VectorEnvironment & {
  /** Hands what the scenario has logged since the last time to `logs.take`. */
  takeLogs(): void
}

/**
 * Opens the environments of a source: in an isolate, or by `link` to the thread of the sockets. Of the options, those that
 * watch and limit guest code are the sandbox's alone. Throws an AgentGymError.
 */
export function openEnvironment(
  source: EnvironmentSource,
  link: MessagePort | null,
  options: Omit<SandboxedEnvironmentOptions, keyof ScenarioCode>,
): PlayedEnvironment {
  if (!isExternal(source)) return createSandboxedEnvironment({ ...source, ...options })
  assert(link !== null, 'a process of the user is reached by a link')
  const { environments, firstEnvironment, seed, plan } = options
  return new ExternalEnvironment(source, { environments, firstEnvironment, seed, plan, link })
}
