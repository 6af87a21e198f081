import { setTimeout as delay } from 'node:timers/promises'
import { type DependencyName, dependencyNames, outageIn, reasonOf } from './outage.ts'

type Probe = () => Promise<unknown>
type Note = (message: string, data: Record<string, unknown>) => void
type Log = { warn: Note; error: Note }

/** Probe timeout: shorter than load balancers wait for `/readyz`. */
const PROBE_MS = 3_000
const EVERY_MS = 5_000

/**
 * Availability of the database and the storage by probes, for `/readyz`, metrics and the log. Requests do not depend on
 * it: each one tries for itself.
 */
export class Dependencies {
  readonly #probes: Record<DependencyName, Probe>
  readonly #log: Log
  /** Since when by `performance.now()`. */
  readonly #downSince = new Map<DependencyName, number>()
  readonly #errors: Record<DependencyName, number> = { database: 0, storage: 0 }
  #checking: Promise<DependencyName[]> | undefined

  constructor(probes: Record<DependencyName, Probe>, log: Log) {
    this.#probes = probes
    this.#log = log
  }

  /** An operation failed because this dependency could not be used. */
  failed(name: DependencyName): void {
    this.#errors[name]++
  }

  /** Operations that failed since the start of this process. */
  errors(name: DependencyName): number {
    return this.#errors[name]
  }

  isUp(name: DependencyName): boolean {
    return !this.#downSince.has(name)
  }

  /** Dependencies that were down at the last probe. */
  down(): DependencyName[] {
    return dependencyNames.filter((name) => !this.isUp(name))
  }

  /** Probes all of them now; concurrent callers share one probe. Resolves to those that are down. */
  check(): Promise<DependencyName[]> {
    this.#checking ??= Promise.all(dependencyNames.map((name) => this.#probe(name)))
      .then(() => this.down())
      .finally(() => {
        this.#checking = undefined
      })
    return this.#checking
  }

  /** Probes until the signal aborts. */
  async watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.check()
      await delay(EVERY_MS, undefined, { signal }).catch(() => {})
    }
  }

  async #probe(name: DependencyName): Promise<void> {
    try {
      await withinTime(this.#probes[name]())
    } catch (error) {
      if (!this.isUp(name)) return
      this.#downSince.set(name, performance.now())
      this.#log.error('a dependency is down', { dependency: name, error: reasonOf(outageIn(error)?.cause ?? error) })
      return
    }
    const since = this.#downSince.get(name)
    if (since === undefined) return
    this.#downSince.delete(name)
    const seconds = Math.round((performance.now() - since) / 100) / 10
    this.#log.warn('a dependency is back', { dependency: name, down_seconds: seconds })
  }
}

async function withinTime(probe: Promise<unknown>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${PROBE_MS} ms`)), PROBE_MS)
  try {
    await Promise.race([probe, promise])
  } finally {
    clearTimeout(timer)
  }
}
