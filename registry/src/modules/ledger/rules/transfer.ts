import { createHash } from 'node:crypto'

/** Moves money immediately (`posted`), or holds it until it is posted or voided (`pending`). */
export type Movement = {
  /** UUID in lower case, chosen before the request: repeated requests with the same ID move the money once. */
  id: string
  kind: 'posted' | 'pending'
  debitAccountId: string
  creditAccountId: string
  amountMinor: bigint
  currency: string
  /** Why: `sale`, `fee`, `top_up` … */
  code: string
  /** uuid of the order, payment, payout … it belongs to. */
  reference?: string
  /** For a pending transfer: after this it can only be voided. A repeated request must have the same value. */
  expiresAt?: Date
  /** Made together with the next transfer in the list or not at all. */
  linked?: boolean
}

/** Ends a pending transfer: `post` moves its amount or part of it and releases the rest, `void` releases all of it. */
export type Resolution = {
  id: string
  kind: 'post' | 'void'
  pendingId: string
  /** For a post; defaults to the full amount. */
  amountMinor?: bigint
  code: string
  reference?: string
  linked?: boolean
}

export type Transfer = Movement | Resolution

/** A transfer as recorded. */
export type RecordedTransfer = {
  id: string
  kind: Transfer['kind']
  debitAccountId: string
  creditAccountId: string
  /** For a void: the amount it releases. */
  amountMinor: bigint
  currency: string
  pendingId: string | null
  code: string
  reference: string | null
  expiresAt: Date | null
}

export type RefusalReason =
  /** Another transfer has this ID, or part of the chain already exists. */
  | 'id_taken'
  | 'amount_invalid'
  | 'account_not_found'
  | 'accounts_same'
  | 'currency_mismatch'
  /** The debit account would go below zero. */
  | 'insufficient_funds'
  /** The credit account would receive more than it owes. */
  | 'more_than_owed'
  /** A sum of an account would exceed the maximum. */
  | 'balance_overflow'
  | 'pending_not_found'
  | 'pending_resolved'
  | 'pending_expired'
  | 'more_than_pending'
  /** Another transfer of its chain was refused. */
  | 'linked_failed'

/** `exists`: the same transfer was made before, and nothing changed now. */
export type TransferResult =
  | { id: string; outcome: 'created' | 'exists' }
  | { id: string; outcome: 'refused'; reason: RefusalReason }

/**
 * The ID of a transfer: a UUID (version 8) from the SHA-256 of its purpose, so that the same action always requests the
 * same transfer. `ids`: IDs of the order, refund, payment or payout.
 */
export function transferId(part: string, ...ids: string[]): string {
  const hash = createHash('sha256')
    .update(['transfer', part, ...ids].join('\n'))
    .digest()
  hash[6] = (hash[6] & 0x0f) | 0x80
  hash[8] = (hash[8] & 0x3f) | 0x80
  const hex = hash.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}
