import type { PolicySpec } from '@agentgym/contract'

/** What the page asks of a policy's worker. Each is answered by one text. */
export type PolicyRequest =
  /** `runtime`: ONNX Runtime as WebAssembly. */
  | { do: 'load'; runtime: ArrayBuffer; model: Uint8Array; spec: PolicySpec }
  /** `begins`: an episode does, and what the policy remembers is cleared. `mask`: 1 is legal. */
  | { do: 'decide'; observation: number[]; mask: number[] | null; begins: boolean }
  | { do: 'beat' }
