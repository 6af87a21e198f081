import type { ErrorReport } from '@agentgym/contract'
import type { ScenarioCode } from '../sandbox/scenario-code.ts'

/** Sessions of one scenario in one process. */
export type HostJob = { scenario: ScenarioCode }

/** To the process. Each is answered once, in order, by a `HostReply` with its `id`. */
export type HostRequest = { id: number; seat: number } & (
  | { do: 'open'; kind: SeatKind; options: unknown }
  | { do: 'ask'; ask: unknown }
  | { do: 'close' }
)

/** What a seat plays; each kind has a file of its own. */
export type SeatKind = 'episode' | 'vector'

/** After a fault the seat is gone. */
export type HostReply =
  | { kind: 'opened'; description: unknown }
  | { kind: 'answer'; id: number; answer: unknown }
  | { kind: 'fault'; id: number; error: ErrorReport }

/** One isolate of the process, which plays for one session. Faults of the scenario are thrown as AgentGymError. */
export type Seat = {
  ask(request: unknown): unknown
  dispose(): void
}
