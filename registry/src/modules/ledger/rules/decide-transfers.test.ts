import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxAmountMinor } from './amounts.ts'
import { decideTransfers, type LedgerAccount } from './decide-transfers.ts'
import type { Movement, RecordedTransfer, Resolution, Transfer, TransferResult } from './transfer.ts'

const now = new Date(1_000)

/** A ledger in memory: funds 100 (may not be overdrawn), owed 40 (may not be overpaid), free (no limit), pounds. */
class Books {
  readonly accounts = new Map<string, LedgerAccount>()
  readonly transfers = new Map<string, RecordedTransfer>()
  readonly resolved = new Set<string>()

  constructor() {
    this.#open('funds', { debitsMustNotExceedCredits: true, creditsPosted: 100n })
    this.#open('owed', { creditsMustNotExceedDebits: true, debitsPosted: 40n })
    this.#open('free', {})
    this.#open('pounds', { currency: 'GBP' })
  }

  #open(id: string, more: Partial<LedgerAccount>): void {
    const none = { debitsPosted: 0n, creditsPosted: 0n, debitsPending: 0n, creditsPending: 0n }
    const limits = { debitsMustNotExceedCredits: false, creditsMustNotExceedDebits: false, hot: false }
    this.accounts.set(id, { id, currency: 'EUR', ...limits, ...none, ...more })
  }

  apply(...transfers: Transfer[]): string[] {
    const { results, created, accounts } = decideTransfers(this, transfers, now)
    for (const transfer of created) {
      this.transfers.set(transfer.id, transfer)
      if (transfer.pendingId !== null) this.resolved.add(transfer.pendingId)
    }
    for (const [id, account] of accounts) this.accounts.set(id, account)
    return results.map(reported)
  }

  sums(id: string): bigint[] {
    const account = this.accounts.get(id)
    if (account === undefined) return []
    return [account.debitsPosted, account.creditsPosted, account.debitsPending, account.creditsPending]
  }
}

const reported = (result: TransferResult) => (result.outcome === 'refused' ? result.reason : result.outcome)
const move = (id: string, debitAccountId: string, creditAccountId: string, amount: number | bigint, more = {}) =>
  ({
    ...{ id, kind: 'posted', debitAccountId, creditAccountId, amountMinor: BigInt(amount) },
    ...{ currency: 'EUR', code: 'sale', ...more },
  }) satisfies Movement as Movement
const hold = (id: string, debit: string, credit: string, amount: number, more = {}) =>
  move(id, debit, credit, amount, { kind: 'pending', ...more })
const post = (id: string, pendingId: string, amount?: number): Resolution => ({
  ...{ id, kind: 'post', pendingId, code: 'sale' },
  ...(amount === undefined ? {} : { amountMinor: BigInt(amount) }),
})
const free = (id: string, pendingId: string): Resolution => ({ id, kind: 'void', pendingId, code: 'sale' })
const linked = (transfer: Transfer): Transfer => ({ ...transfer, linked: true })

describe('a transfer', () => {
  it('moves at most the available amount', () => {
    const books = new Books()
    expect(books.apply(move('1', 'funds', 'free', 101))).toEqual(['insufficient_funds'])
    expect(books.apply(move('1', 'funds', 'free', 100))).toEqual(['created'])
    expect(books.apply(move('2', 'funds', 'free', 1))).toEqual(['insufficient_funds'])
    expect(books.sums('funds')).toEqual([100n, 100n, 0n, 0n])
    expect(books.sums('free')).toEqual([0n, 100n, 0n, 0n])
  })

  it('pays at most the amount owed', () => {
    const books = new Books()
    expect(books.apply(move('1', 'free', 'owed', 41), move('2', 'free', 'owed', 40))).toEqual([
      'more_than_owed',
      'created',
    ])
    expect(books.apply(hold('3', 'free', 'owed', 1))).toEqual(['more_than_owed'])
  })

  it.each<[string, Movement, string]>([
    ['nothing', move('1', 'free', 'funds', 0), 'amount_invalid'],
    ['less than nothing', move('1', 'free', 'funds', -5), 'amount_invalid'],
    ['more than is moved at once', move('1', 'free', 'funds', maxAmountMinor + 1n), 'amount_invalid'],
    ['within one account', move('1', 'free', 'free', 1), 'accounts_same'],
    ['from nowhere', move('1', 'gone', 'free', 1), 'account_not_found'],
    ['to nowhere', move('1', 'free', 'gone', 1), 'account_not_found'],
    ['from another currency', move('1', 'pounds', 'free', 1), 'currency_mismatch'],
    ['to another currency', move('1', 'free', 'pounds', 1), 'currency_mismatch'],
    ['in another currency', move('1', 'free', 'funds', 1, { currency: 'GBP' }), 'currency_mismatch'],
  ])('of %s is refused', (_, transfer, reason) => {
    const books = new Books()
    expect(books.apply(transfer)).toEqual([reason])
    expect(books.transfers.size).toBe(0)
  })

  it('is refused before sums overflow', () => {
    const books = new Books()
    const results = Array.from({ length: 8_001 }, (_, index) => move(`${index}`, 'free', 'funds', maxAmountMinor))
    expect(books.apply(...results).filter((reported) => reported !== 'created')).toEqual([
      'balance_overflow',
      'balance_overflow',
    ])
  })

  it('is made once, and refused if repeated with other contents', () => {
    const books = new Books()
    const first = hold('1', 'funds', 'free', 10, { reference: 'order', expiresAt: new Date(5_000) })
    expect(books.apply(first, first)).toEqual(['created', 'exists'])
    expect(books.apply({ ...first, expiresAt: new Date(5_000) })).toEqual(['exists'])
    const others: Partial<Movement>[] = [
      { amountMinor: 11n },
      { creditAccountId: 'owed' },
      { debitAccountId: 'free', creditAccountId: 'funds' },
      { currency: 'GBP' },
      { code: 'fee' },
      { reference: 'other' },
      { reference: undefined },
      { kind: 'posted' },
      { expiresAt: new Date(5_001) },
      { expiresAt: undefined },
    ]
    for (const other of others) expect(books.apply({ ...first, ...other })).toEqual(['id_taken'])
    expect(books.apply(post('1', '1'))).toEqual(['id_taken'])
    expect(books.sums('funds')).toEqual([0n, 100n, 10n, 0n])
  })
})

describe('a pending transfer', () => {
  it('holds money; a full or partial post moves it and releases the rest, once', () => {
    const books = new Books()
    expect(books.apply(hold('1', 'funds', 'free', 80), hold('2', 'funds', 'free', 30))).toEqual([
      'created',
      'insufficient_funds',
    ])
    expect(books.apply(post('3', '1', 81), post('4', '1', 0), post('5', 'none'), post('6', '2'))).toEqual([
      ...['more_than_pending', 'amount_invalid', 'pending_not_found', 'pending_not_found'],
    ])
    expect(books.apply(post('7', '1', 50))).toEqual(['created'])
    expect(books.sums('funds')).toEqual([50n, 100n, 0n, 0n])
    expect(books.sums('free')).toEqual([0n, 50n, 0n, 0n])
    expect(books.apply(post('7', '1', 50), post('7', '1', 49), post('8', '1', 50), free('9', '1'))).toEqual([
      ...['exists', 'id_taken', 'pending_resolved', 'pending_resolved'],
    ])
  })

  it('can be voided, and held again', () => {
    const books = new Books()
    expect(books.apply(hold('1', 'funds', 'free', 100), free('2', '1'), hold('3', 'funds', 'free', 100))).toEqual([
      ...['created', 'created', 'created'],
    ])
    expect(books.apply(free('2', '1'), post('4', '2'))).toEqual(['exists', 'pending_not_found'])
    expect(books.sums('funds')).toEqual([0n, 100n, 100n, 0n])
  })

  it('can only be voided once it has expired', () => {
    const books = new Books()
    books.apply(hold('1', 'funds', 'free', 10, { expiresAt: now }))
    expect(books.apply(post('2', '1'), free('3', '1'))).toEqual(['pending_expired', 'created'])
    books.apply(hold('4', 'funds', 'free', 10, { expiresAt: new Date(now.getTime() + 1) }))
    expect(books.apply(post('5', '4'))).toEqual(['created'])
  })

  it('counts against what is owed', () => {
    const books = new Books()
    expect(books.apply(hold('1', 'free', 'owed', 40), hold('2', 'free', 'owed', 1), post('3', '1'))).toEqual([
      ...['created', 'more_than_owed', 'created'],
    ])
  })
})

describe('a chain', () => {
  it('is atomic, and does not affect other transfers', () => {
    const books = new Books()
    const chain = [
      linked(move('1', 'funds', 'free', 60)),
      linked(move('2', 'funds', 'free', 60)),
      move('3', 'free', 'owed', 1),
    ]
    expect(books.apply(move('0', 'funds', 'free', 1), ...chain, move('4', 'funds', 'free', 99))).toEqual([
      ...['created', 'linked_failed', 'insufficient_funds', 'linked_failed', 'created'],
    ])
    expect([...books.transfers.keys()]).toEqual(['0', '4'])
  })

  it('may use money from its own earlier transfers', () => {
    const books = new Books()
    expect(books.apply(linked(move('1', 'free', 'funds', 50)), move('2', 'funds', 'free', 150))).toEqual([
      ...['created', 'created'],
    ])
    expect(books.apply(linked(hold('3', 'free', 'funds', 50)), post('4', '3'))).toEqual(['created', 'created'])
  })

  it('exists if repeated; a partially existing chain is refused', () => {
    const books = new Books()
    const chain = [linked(move('1', 'funds', 'free', 10)), move('2', 'funds', 'free', 10)]
    expect(books.apply(...chain)).toEqual(['created', 'created'])
    expect(books.apply(...chain)).toEqual(['exists', 'exists'])
    expect(books.apply(chain[0], linked(chain[1]), move('3', 'funds', 'free', 10))).toEqual([
      ...['id_taken', 'linked_failed', 'linked_failed'],
    ])
    expect(books.apply(linked(move('4', 'funds', 'free', 1)), move('4', 'funds', 'free', 1))).toEqual([
      ...['linked_failed', 'id_taken'],
    ])
    expect(books.sums('funds')).toEqual([20n, 100n, 0n, 0n])
  })

  it('must be terminated', () => {
    expect(() => new Books().apply(linked(move('1', 'funds', 'free', 1)))).toThrow('not linked')
  })
})

it('conserves money, keeps limits, and refusals change nothing, for any requests', () => {
  const ids = fc.integer({ min: 1, max: 12 }).map(String)
  const accounts = fc.constantFrom('funds', 'owed', 'free', 'pounds', 'gone')
  const movement = fc
    .tuple(ids, accounts, accounts, fc.integer({ min: -1, max: 120 }), fc.boolean())
    .map(([id, from, to, amount, pending]) => (pending ? hold : move)(id, from, to, amount))
  const ending = fc
    .tuple(ids, ids, fc.option(fc.nat(120), { nil: undefined }), fc.boolean())
    .map(([id, pending, amount, posts]) => (posts ? post(id, pending, amount) : free(id, pending)))
  const transfers = fc
    .array(fc.tuple(fc.oneof(movement, ending), fc.boolean()), { minLength: 1, maxLength: 8 })
    .map((given) => given.map(([transfer, link], index) => ({ ...transfer, linked: link && index < given.length - 1 })))
  fc.assert(
    fc.property(fc.array(transfers, { maxLength: 12 }), (calls) => {
      const books = new Books()
      for (const call of calls) {
        const before = new Map(books.accounts)
        const outcomes = books.apply(...call)
        if (!outcomes.includes('created')) expect(books.accounts).toEqual(before)
        expect(outcomes).toHaveLength(call.length)
        const sums = [...books.accounts.keys()].map((id) => books.sums(id))
        const total = (index: number) => sums.reduce((sum, of) => sum + of[index], 0n)
        // The ledger started with 100 credits and 40 debits of other accounts.
        expect(total(0) - 40n).toBe(total(1) - 100n)
        expect(total(2)).toBe(total(3))
        for (const of of sums) for (const sum of of) expect(sum).toBeGreaterThanOrEqual(0n)
        const [funds, owed] = [books.sums('funds'), books.sums('owed')]
        expect(funds[0] + funds[2]).toBeLessThanOrEqual(funds[1])
        expect(owed[1] + owed[3]).toBeLessThanOrEqual(owed[0])
        expect(books.sums('pounds')).toEqual([0n, 0n, 0n, 0n])
        // Repeating the same requests changes nothing.
        const after = new Map(books.accounts)
        if (outcomes.every((outcome) => outcome === 'created' || outcome === 'exists')) {
          expect(new Set(books.apply(...call))).toEqual(new Set(['exists']))
          expect(books.accounts).toEqual(after)
        }
      }
    }),
    { numRuns: 500 },
  )
})
