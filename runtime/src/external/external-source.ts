import type { ScenarioCode } from '../sandbox/scenario-code.ts'
import type { ScenarioDescription, ScenarioIdentity } from '../sandbox/vector-environment.ts'

/** How spaces of ours and the JSON of an OpenEnv server belong together. */
export type OpenEnvMapping = {
  /** Names of the observation's fields, in order of the space's entries, with the values of those that are choices. */
  observation: { name: string; values: unknown[] | null; text: boolean }[]
  action: ActionMapping
  /** Whether observations list the legal indices of the one action as `legal_actions`. */
  masked: boolean
}

/** A chosen value; `values` are those of a choice, which its index stands for, or null where the value is itself. */
export type Parameter = { name: string; values: unknown[] | null }

export type ActionMapping =
  /** One object: parameters in order of the space's entries, beside what is always the same. */
  | { kind: 'fields'; parameters: Parameter[]; constant: Record<string, unknown> }
  /** Tools of MCP, in order of the choices. */
  | { kind: 'tools'; tools: { name: string; parameters: Parameter[] }[] }

/** How a process of the user's is spoken to; `key` is sent as `Authorization: Bearer`. */
export type ExternalEndpoint =
  /** The vector protocol (docs/vector-protocol.md); `scenario` for a server that has several. */
  | { protocol: 'vector'; url: string; scenario?: string; key?: string }
  /** OpenEnv: a WebSocket for each environment. */
  | { protocol: 'openenv'; url: string; mapping: OpenEnvMapping; key?: string }

/** Environments that a process of the user's steps: what a job gets in place of a scenario's bundle. */
export type ExternalSource = {
  identity: ScenarioIdentity
  /** As the process described itself when the run began; a job refuses one that changes afterwards. */
  description: ScenarioDescription
  endpoint: ExternalEndpoint
  /** The process must answer each request within this. */
  timeoutMs: number
  /** Environments of an evaluation, beside those of training. */
  evaluationEnvironments: number
}

/** Where the environments of a run come from: a bundle in the sandbox, or a process of the user's. */
export type EnvironmentSource = ScenarioCode | ExternalSource

export function isExternal(source: EnvironmentSource): source is ExternalSource {
  return 'endpoint' in source
}
