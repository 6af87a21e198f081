/** A page as strangers were shown it, and until when they may be shown the same; of `performance.now()`. */
export type ShownPage = { bytes: Buffer<ArrayBuffer>; untilMs: number }

export type ShownPages = {
  find(key: string): ShownPage | undefined
  keep(key: string, page: ShownPage): void
}

/** Of a Map's entry and what belongs to it, besides the page itself. */
const entryBytes = 200

/**
 * Keeps pages that are the same for all strangers as long as the answers of the API hold that they were drawn from, and at
 * most so many bytes of them. Pages with somebody's session or a form's token never come here.
 */
export function keepShownPages({ mostBytes }: { mostBytes: number }): ShownPages {
  const kept = new Map<string, ShownPage>()
  let keptBytes = 0
  const sizeOf = (key: string, { bytes }: ShownPage) => bytes.byteLength + 2 * key.length + entryBytes
  const forget = (key: string, page: ShownPage) => {
    kept.delete(key)
    keptBytes -= sizeOf(key, page)
  }
  const holds = ({ untilMs }: ShownPage) => untilMs > performance.now()
  return {
    find: (key) => {
      const page = kept.get(key)
      return page !== undefined && holds(page) ? page : undefined
    },
    keep: (key, page) => {
      const older = kept.get(key)
      if (older !== undefined) forget(key, older)
      if (!holds(page) || sizeOf(key, page) > mostBytes) return
      kept.set(key, page)
      keptBytes += sizeOf(key, page)
      // A Map keeps the order of insertion: the first is the oldest.
      for (const [oldest, shown] of kept) {
        if (keptBytes <= mostBytes && holds(shown)) break
        forget(oldest, shown)
      }
    },
  }
}
