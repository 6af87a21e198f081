import assert from 'node:assert'
import { isAmount } from './amounts.ts'
import type { AccountLimits } from './chart-of-accounts.ts'
import type { Movement, RecordedTransfer, RefusalReason, Resolution, Transfer, TransferResult } from './transfer.ts'

/** Sums of an account's transfers, in minor units. */
export type AccountSums = {
  debitsPosted: bigint
  creditsPosted: bigint
  debitsPending: bigint
  creditsPending: bigint
}

export type LedgerAccount = AccountLimits & AccountSums & { id: string; currency: string }

/** Input of a decision: the accounts and transfers involved, and the resolved pending transfers. */
export type LedgerState = {
  accounts: Pick<ReadonlyMap<string, LedgerAccount>, 'get'>
  transfers: Pick<ReadonlyMap<string, RecordedTransfer>, 'get'>
  resolved: Pick<ReadonlySet<string>, 'has'>
}

export type Decision = {
  /** One per transfer, in order. */
  results: TransferResult[]
  /** Transfers to record, in order. */
  created: RecordedTransfer[]
  /** Changed accounts, in their new state. */
  accounts: Map<string, LedgerAccount>
}

/** Well below the maximum of int8, to leave room for entries that are not in a hot account's row yet. */
const maxSum = 8n * 10n ** 18n

/**
 * Decides transfers one after another at a given time, like TigerBeetle: each is created, already exists, or is
 * refused. A chain (`linked` on all but its last) is created completely or not at all. Pure: does not change the state.
 */
export function decideTransfers(state: LedgerState, transfers: readonly Transfer[], at: Date): Decision {
  const all = new Draft(state)
  const results: TransferResult[] = []
  for (const chain of chainsOf(transfers)) results.push(...decideChain(all, chain, at))
  return { results, created: all.created, accounts: all.changed }
}

function* chainsOf(transfers: readonly Transfer[]): Generator<Transfer[]> {
  let chain: Transfer[] = []
  for (const transfer of transfers) {
    chain.push(transfer)
    if (transfer.linked) continue
    yield chain
    chain = []
  }
  assert(chain.length === 0, 'the last transfer of a chain is not linked to one that follows')
}

function decideChain(all: Draft, chain: Transfer[], at: Date): TransferResult[] {
  if (chain.every((transfer) => all.has(transfer))) return chain.map(({ id }) => ({ id, outcome: 'exists' }))
  const draft = new Draft(all)
  for (const [index, transfer] of chain.entries()) {
    const decided = decide(draft, transfer, at)
    if (typeof decided !== 'string') draft.add(decided)
    else
      return chain.map(({ id }, other) => ({
        id,
        outcome: 'refused',
        reason: other === index ? decided : 'linked_failed',
      }))
  }
  all.take(draft)
  return chain.map(({ id }) => ({ id, outcome: 'created' }))
}

function decide(draft: Draft, transfer: Transfer, at: Date): RecordedTransfer | RefusalReason {
  if (draft.transfers.get(transfer.id) !== undefined) return 'id_taken'
  const recorded = isMovement(transfer) ? movement(transfer) : resolve(draft, transfer, at)
  if (typeof recorded === 'string') return recorded
  return refuseAmount(recorded) ?? refuseAccounts(draft, recorded) ?? recorded
}

function movement(transfer: Movement): RecordedTransfer {
  return {
    ...{ id: transfer.id, kind: transfer.kind },
    ...{ debitAccountId: transfer.debitAccountId, creditAccountId: transfer.creditAccountId },
    ...{ amountMinor: transfer.amountMinor, currency: transfer.currency },
    ...{ pendingId: null, code: transfer.code },
    ...{ reference: transfer.reference ?? null, expiresAt: transfer.expiresAt ?? null },
  }
}

function resolve(draft: Draft, transfer: Resolution, at: Date): RecordedTransfer | RefusalReason {
  const pending = draft.transfers.get(transfer.pendingId)
  if (pending?.kind !== 'pending') return 'pending_not_found'
  if (draft.resolved.has(pending.id)) return 'pending_resolved'
  if (transfer.kind === 'post' && pending.expiresAt !== null && pending.expiresAt <= at) return 'pending_expired'
  const recorded = resolution(transfer, pending)
  return recorded.amountMinor > pending.amountMinor ? 'more_than_pending' : recorded
}

function resolution(transfer: Resolution, pending: RecordedTransfer): RecordedTransfer {
  return {
    ...pending,
    ...{ id: transfer.id, kind: transfer.kind, pendingId: pending.id },
    amountMinor: transfer.kind === 'post' ? (transfer.amountMinor ?? pending.amountMinor) : pending.amountMinor,
    ...{ code: transfer.code, reference: transfer.reference ?? null, expiresAt: null },
  }
}

function refuseAmount({ amountMinor }: RecordedTransfer): RefusalReason | undefined {
  return isAmount(amountMinor) ? undefined : 'amount_invalid'
}

function refuseAccounts(draft: Draft, recorded: RecordedTransfer): RefusalReason | undefined {
  if (recorded.debitAccountId === recorded.creditAccountId) return 'accounts_same'
  const { debit, credit } = draft.after(recorded)
  if (debit === undefined || credit === undefined) return 'account_not_found'
  if (debit.currency !== recorded.currency || credit.currency !== recorded.currency) return 'currency_mismatch'
  // A post or void stays within its hold.
  if (recorded.pendingId !== null) return undefined
  const debits = debit.debitsPosted + debit.debitsPending
  const credits = credit.creditsPosted + credit.creditsPending
  if (debit.debitsMustNotExceedCredits && debits > debit.creditsPosted) return 'insufficient_funds'
  if (credit.creditsMustNotExceedDebits && credits > credit.debitsPosted) return 'more_than_owed'
  return debits > maxSum || credits > maxSum ? 'balance_overflow' : undefined
}

/** Changes on top of a state, so that a refused chain can be discarded. */
class Draft implements LedgerState {
  readonly created: RecordedTransfer[] = []
  readonly changed = new Map<string, LedgerAccount>()
  readonly #transfers = new Map<string, RecordedTransfer>()
  readonly #resolved = new Set<string>()
  readonly #below: LedgerState

  constructor(below: LedgerState) {
    this.#below = below
  }

  readonly accounts = { get: (id: string) => this.changed.get(id) ?? this.#below.accounts.get(id) }
  readonly transfers = { get: (id: string) => this.#transfers.get(id) ?? this.#below.transfers.get(id) }
  readonly resolved = { has: (id: string) => this.#resolved.has(id) || this.#below.resolved.has(id) }

  /** Whether this exact transfer exists. */
  has(transfer: Transfer): boolean {
    const recorded = this.transfers.get(transfer.id)
    return recorded !== undefined && isSame(recorded, this.#asRecorded(transfer))
  }

  #asRecorded(transfer: Transfer): RecordedTransfer | undefined {
    if (isMovement(transfer)) return movement(transfer)
    const pending = this.transfers.get(transfer.pendingId)
    return pending && resolution(transfer, pending)
  }

  /** Its accounts after the transfer. */
  after(recorded: RecordedTransfer): { debit: LedgerAccount | undefined; credit: LedgerAccount | undefined } {
    const { posted, pending } = changes(recorded, this.transfers.get(recorded.pendingId ?? ''))
    const debit = this.accounts.get(recorded.debitAccountId)
    const credit = this.accounts.get(recorded.creditAccountId)
    return {
      debit: debit && {
        ...debit,
        debitsPosted: debit.debitsPosted + posted,
        debitsPending: debit.debitsPending + pending,
      },
      credit: credit && {
        ...credit,
        creditsPosted: credit.creditsPosted + posted,
        creditsPending: credit.creditsPending + pending,
      },
    }
  }

  add(recorded: RecordedTransfer): void {
    for (const account of Object.values(this.after(recorded))) if (account) this.changed.set(account.id, account)
    this.#transfers.set(recorded.id, recorded)
    if (recorded.pendingId !== null) this.#resolved.add(recorded.pendingId)
    this.created.push(recorded)
  }

  take(draft: Draft): void {
    for (const recorded of draft.created) this.add(recorded)
  }
}

const isMovement = (transfer: Transfer): transfer is Movement =>
  transfer.kind === 'posted' || transfer.kind === 'pending'

/** What a transfer adds to the posted and pending sums of each side. */
function changes(
  { kind, amountMinor }: RecordedTransfer,
  pending: RecordedTransfer | undefined,
): { posted: bigint; pending: bigint } {
  if (kind === 'posted') return { posted: amountMinor, pending: 0n }
  if (kind === 'pending') return { posted: 0n, pending: amountMinor }
  assert(pending !== undefined)
  return { posted: kind === 'post' ? amountMinor : 0n, pending: -pending.amountMinor }
}

function isSame(recorded: RecordedTransfer, request: RecordedTransfer | undefined): boolean {
  if (request === undefined) return false
  const { expiresAt, ...rest } = recorded
  const keys = Object.keys(rest) as (keyof typeof rest)[]
  return keys.every((key) => rest[key] === request[key]) && expiresAt?.getTime() === request.expiresAt?.getTime()
}
