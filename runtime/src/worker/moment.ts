/** A moment by both clocks of the machine, to measure from. */
export type Moment = { monotonic: number; wall: number }

export function now(): Moment {
  return { monotonic: performance.now(), wall: Date.now() }
}

/**
 * Milliseconds since then, by whichever clock says more: the monotonic one stands still while a machine is suspended, the
 * wall clock may be set back.
 */
export function elapsedMs(since: Moment): number {
  return Math.max(performance.now() - since.monotonic, Date.now() - since.wall)
}
