/** Milliseconds. Tests have shorter ones. */
export type HostingTimes = {
  /** How long a caller waits for an answer. */
  waitMs: number
  /** How long a worker has a batch before another may have it. */
  leaseMs: number
  /** How often the database is asked what other processes have done. */
  pollMs: number
}

export const usualTimes: HostingTimes = { waitMs: 30_000, leaseMs: 20_000, pollMs: 250 }
