import { createHmac } from 'node:crypto'
import { clientNetwork } from '../../core/access/client-network.ts'
import type { Services } from '../../core/services.ts'
import { addDownloads, type CountedDownload } from './downloads.store.ts'

/** `accountId`: who downloads, where that is known. */
export type Download = { versionId: string; ip: string; userAgent: string; accountId?: string | null }

const flushAfterMs = 2_000
/** Above this many, the next flush does not wait; above the second, counting gives way to serving. */
const flushAbove = 10_000
const keptAtMost = 100_000
const batchSize = 5_000

/** What was downloaded since the last flush, each client once a version and day. */
class DownloadCounter {
  readonly #services: Services
  #waiting = new Map<string, CountedDownload>()
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> = Promise.resolve()

  constructor(services: Services) {
    this.#services = services
  }

  add(counted: CountedDownload): void {
    this.#put(counted)
    if (this.#waiting.size === flushAbove) void this.flush()
  }

  /** Resolves once everything added so far is in the database, or has been tried. One flush at a time. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#flushNow())
    return this.#flushing
  }

  async #flushNow(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const taken = [...this.#waiting.values()]
    this.#waiting = new Map()
    for (let at = 0; at < taken.length; at += batchSize) {
      const batch = taken.slice(at, at + batchSize)
      try {
        await addDownloads(this.#services.database, batch)
      } catch (error) {
        this.#services.log.warn('downloads could not be counted; trying again', {
          downloads: taken.length - at,
          error: error instanceof Error ? error.message : String(error),
        })
        for (const counted of taken.slice(at)) this.#put(counted)
        return
      }
    }
  }

  #put(counted: CountedDownload): void {
    if (this.#waiting.size >= keptAtMost) return
    const { version_id, day, client, account_id } = counted
    this.#waiting.set(`${version_id} ${day} ${client} ${account_id}`, counted)
    this.#timer ??= setTimeout(() => void this.flush(), flushAfterMs).unref()
  }
}

const counters = new WeakMap<Services, DownloadCounter>()

function counterOf(services: Services): DownloadCounter {
  let counter = counters.get(services)
  if (counter === undefined) {
    counter = new DownloadCounter(services)
    counters.set(services, counter)
  }
  return counter
}

/**
 * Counts a download of a version, later and once a day for each client; never throws and never waits. A client is an
 * address (of IPv6 its /64) with a kind of program; the database gets a keyed hash of it that is another one every day.
 */
export function recordDownload(services: Services, { versionId, ip, userAgent, accountId = null }: Download): void {
  const day = new Date().toISOString().slice(0, 10)
  const client = createHmac('sha256', services.config.secret)
    .update(`download\n${day}\n${clientNetwork(ip)}\n${programOf(userAgent)}`)
    .digest('base64url')
  counterOf(services).add({ version_id: versionId, day, client, account_id: accountId })
}

/** Resolves once what was recorded is in the database. For the end of the process, and for tests. */
export function flushDownloads(services: Services): Promise<void> {
  return counters.get(services)?.flush() ?? Promise.resolve()
}

/** `npm` of `npm/10.9.0 node/v24.1.0 linux x64`: a new version of a program is not a new client. */
function programOf(userAgent: string): string {
  return (/^[a-z][a-z0-9_-]*/.exec(userAgent.toLowerCase())?.[0] ?? 'unknown').slice(0, 32)
}
