import type { ErrorReport } from '@agentgym/contract'

/** What a worker is at with calls of agents. `subject` is `@scope/name@version` of the agent. */
export type CallEvent =
  /** An agent's process has its model loaded. */
  | { event: 'agent_loaded'; subject: string }
  /** Of the last seconds: calls that were answered, those with an error among them. */
  | { event: 'calls_answered'; subject: string; calls: number; failed: number }
  /** An agent's process ended, or must not be started; its calls fail with that. */
  | { event: 'agent_failed'; subject: string; error: ErrorReport }
  /** Neither the callers' fault nor the agent's. The calls go to another worker, or come back, once their lease is over. */
  | { event: 'calls_dropped'; subject: string; error: ErrorReport }
  /** The server is of a version that hosts no agents. Said once; the worker goes on asking, seldom. */
  | { event: 'calls_unsupported'; error: ErrorReport }
