import { rateLimited } from '../../core/access/rate-limit.ts'

/** Each document is in memory several times over while it is read: as text, as JSON, as a tarball. */
const documentsAtOnce = 8

/**
 * Bounds what one account can make this process hold in memory, before the limit on publishing counts: runs `work`, or
 * throws `rate_limited` where that many of the account are under way. Nobody waits, so nobody can make others wait.
 */
export function documentSlots(atOnce = documentsAtOnce) {
  const underWay = new Map<string, number>()
  return async <Result>(accountId: string, work: () => Promise<Result>): Promise<Result> => {
    const others = underWay.get(accountId) ?? 0
    if (others >= atOnce) throw rateLimited(1)
    underWay.set(accountId, others + 1)
    try {
      return await work()
    } finally {
      const left = (underWay.get(accountId) ?? 1) - 1
      if (left === 0) underWay.delete(accountId)
      else underWay.set(accountId, left)
    }
  }
}
