import { randomOf } from '@agentgym/testkit/random'

/** What goes wrong, where, and for how long. `pauseMs`: until the next one. */
export type Fault = { kind: FaultKind; target: 0 | 1; lastsMs: number; pauseMs: number; skewSeconds: number }

export const faultKinds = [
  ...(['kill-server', 'stop-server', 'kill-worker', 'stop-worker', 'cut-database', 'silence-database'] as const),
  ...(['cut-bucket', 'stop-bucket', 'crash-database', 'jump-clock'] as const),
] as const
export type FaultKind = (typeof faultKinds)[number]

/** Endless; the same seed gives the same ones. Each kind comes once before one comes again. */
export function* faultsOf(seed: number): Generator<Fault, never> {
  const random = randomOf(seed)
  for (;;) {
    const kinds = [...faultKinds]
    while (kinds.length > 0) {
      const [kind] = kinds.splice(Math.floor(random() * kinds.length), 1)
      yield {
        kind,
        target: random() < 0.5 ? 0 : 1,
        lastsMs: 1_000 + Math.floor(random() * 7_000),
        pauseMs: 2_000 + Math.floor(random() * 6_000),
        skewSeconds: Math.floor(random() * 240) - 120,
      }
    }
  }
}
