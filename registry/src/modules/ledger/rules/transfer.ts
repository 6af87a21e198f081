import { createHash } from 'node:crypto'

/** Moves money at once (`posted`), or holds it until it is posted or voided (`pending`). */
export type Movement = {
  /** uuid, lower case, chosen before the transfer is asked for: whoever asks again with it moves nothing twice. */
  id: string
  kind: 'posted' | 'pending'
  debitAccountId: string
  creditAccountId: string
  amountMinor: bigint
  currency: string
  /** Why: `sale`, `fee`, `top_up` … */
  code: string
  /** uuid of the order, payment, payout … that it belongs to. */
  reference?: string
  /** Of a pending one: from then on it can only be voided. Asked again, it must be the same moment. */
  expiresAt?: Date
  /** Done with the next one of the list or not at all. */
  linked?: boolean
}

/** Ends a pending transfer: `post` moves its amount or a part of it and frees the rest, `void` frees all. */
export type Resolution = {
  id: string
  kind: 'post' | 'void'
  pendingId: string
  /** Of a post; all of it where left out. */
  amountMinor?: bigint
  code: string
  reference?: string
  linked?: boolean
}

export type Transfer = Movement | Resolution

/** As it was written down. */
export type RecordedTransfer = {
  id: string
  kind: Transfer['kind']
  debitAccountId: string
  creditAccountId: string
  /** Of a void: what it frees. */
  amountMinor: bigint
  currency: string
  pendingId: string | null
  code: string
  reference: string | null
  expiresAt: Date | null
}

export type RefusalReason =
  /** There is another transfer with this id, or a part of the chain is there already. */
  | 'id_taken'
  | 'amount_invalid'
  | 'account_not_found'
  | 'accounts_same'
  | 'currency_mismatch'
  /** The debit account would have less than nothing. */
  | 'insufficient_funds'
  /** The credit account would be paid more than it owes. */
  | 'more_than_owed'
  /** The sums of an account would be more than is kept. */
  | 'balance_overflow'
  | 'pending_not_found'
  | 'pending_resolved'
  | 'pending_expired'
  | 'more_than_pending'
  /** Another one of its chain was refused. */
  | 'linked_failed'

/** `exists`: the same transfer was made before, and nothing has been done now. */
export type TransferResult =
  | { id: string; outcome: 'created' | 'exists' }
  | { id: string; outcome: 'refused'; reason: RefusalReason }

/**
 * The id of a transfer: a UUID (version 8) of the SHA-256 of its purpose, so that the same action always requests the same
 * transfer. `ids` are those of the order, refund, payment or payout.
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
