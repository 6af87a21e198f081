import { sql } from 'kysely'
import type { Database, Queries } from '../../core/database/database.ts'
import { readSnapshot } from '../../core/database/read-snapshot.ts'

/** A violated rule of the ledger: which rule, its subject, and how it is violated. */
export type LedgerFinding = { rule: string; subject: string; detail: string }

const transfersAtOnce = 10_000

/**
 * Replays all transfers in order and reports inconsistent accounts, holds and transfers. Shares no code with the
 * ledger's writer. Reads one snapshot of the database; time and memory grow with the ledger. Expected result: an empty
 * list.
 */
export async function auditLedger(database: Database): Promise<LedgerFinding[]> {
  return database.transaction(async (query) => {
    await readSnapshot(query)
    const audit = new Audit(await readAccounts(query))
    let after = '0'
    for (let read = transfersAtOnce; read === transfersAtOnce; ) {
      const transfers = await readTransfers(query, after)
      for (const transfer of transfers) audit.replay(transfer)
      read = transfers.length
      after = transfers.at(-1)?.position ?? after
    }
    audit.compareSums()
    audit.compareHolds(await readHolds(query))
    return audit.findings
  })
}

/** debits posted, credits posted, debits pending, credits pending */
type Sums = [bigint, bigint, bigint, bigint]
type AccountRow = {
  id: string
  code: string
  currency: string
  debits_limited: boolean
  credits_limited: boolean
  hot: boolean
  row_sums: string[]
  entry_sums: string[]
}
type AuditedAccount = Omit<AccountRow, 'row_sums' | 'entry_sums'> & { kept: Sums; replayed: Sums }
type TransferRow = {
  position: string
  id: string
  kind: string
  debit: string
  credit: string
  amount: string
  currency: string
  pending_id: string | null
  expires_at: Date | null
  created_at: Date
}
type HoldRow = { transfer_id: string; expires_at: Date | null }

class Audit {
  readonly findings: LedgerFinding[] = []
  readonly #accounts: Map<string, AuditedAccount>
  readonly #holds = new Map<string, TransferRow>()
  #last = 0n

  constructor(rows: AccountRow[]) {
    this.#accounts = new Map(rows.map((row) => [row.id, this.#auditRow(row)]))
  }

  #find(rule: string, subject: string, detail: string): void {
    this.findings.push({ rule, subject, detail })
  }

  #auditRow({ row_sums: row, entry_sums: entries, ...account }: AccountRow): AuditedAccount {
    const inRow = row.map(BigInt) as Sums
    const apart = entries.map(BigInt) as Sums
    const subject = `${account.code} ${account.id}`
    if (inRow.some((sum) => sum < 0n)) this.#find('no total is negative', subject, `the row holds ${inRow}`)
    if (!account.hot && apart.some((sum) => sum !== 0n))
      this.#find('only hot accounts have separate entries', subject, `there are entries of ${apart}`)
    if (account.hot && (account.debits_limited || account.credits_limited))
      this.#find('a hot account has no limit', subject, 'it has')
    return { ...account, kept: inRow.map((sum, index) => sum + apart[index]) as Sums, replayed: [0n, 0n, 0n, 0n] }
  }

  replay(transfer: TransferRow): void {
    const { id, kind, currency } = transfer
    const position = BigInt(transfer.position)
    if (position <= this.#last) this.#find('positions grow', id, `${position} comes after ${this.#last}`)
    this.#last = position
    const amount = BigInt(transfer.amount)
    if (amount < 1n || amount > 1_000_000_000_000_000n) this.#find('amounts are 1 to 10^15', id, `it is ${amount}`)
    if (transfer.debit === transfer.credit) this.#find('two accounts', id, `both are ${transfer.debit}`)
    const debit = this.#accounts.get(transfer.debit)
    const credit = this.#accounts.get(transfer.credit)
    if (debit === undefined || credit === undefined) {
      this.#find('accounts exist', id, `${transfer.debit} or ${transfer.credit} is not`)
      return
    }
    if (debit.currency !== currency || credit.currency !== currency)
      this.#find('one currency', id, `${debit.currency} to ${credit.currency} in ${currency}`)
    const held = this.#endHold(transfer, amount)
    const posted = kind === 'posted' || kind === 'post' ? amount : 0n
    const pending = kind === 'pending' ? amount : -held
    if (kind === 'pending') this.#holds.set(id, transfer)
    debit.replayed[0] += posted
    debit.replayed[2] += pending
    credit.replayed[1] += posted
    credit.replayed[3] += pending
    for (const account of [debit, credit]) this.#checkLimits(account, id)
  }

  /** Ends the hold of a post or void, and returns its amount. */
  #endHold({ id, kind, pending_id: pendingId, ...ending }: TransferRow, amount: bigint): bigint {
    if (kind !== 'post' && kind !== 'void') {
      if (pendingId !== null) this.#find('only posts and voids resolve a hold', id, `it is ${kind}`)
      return 0n
    }
    const hold = this.#holds.get(pendingId ?? '')
    if (hold === undefined) {
      this.#find('only holds are resolved, each once', id, `${pendingId} is not held`)
      return 0n
    }
    this.#holds.delete(hold.id)
    const whole = BigInt(hold.amount)
    if (amount > whole || (kind === 'void' && amount !== whole))
      this.#find('a post does not exceed its hold', id, `${kind} of ${amount}, held ${whole}`)
    if (ending.debit !== hold.debit || ending.credit !== hold.credit || ending.currency !== hold.currency)
      this.#find('a hold is resolved on its own accounts', id, `not those of ${hold.id}`)
    if (kind === 'post' && hold.expires_at !== null && hold.expires_at <= ending.created_at)
      this.#find('expired holds are not posted', id, `it expired at ${hold.expires_at.toISOString()}`)
    return whole
  }

  #checkLimits({ debits_limited, credits_limited, replayed, code, id }: AuditedAccount, transfer: string): void {
    const [debitsPosted, creditsPosted, debitsPending, creditsPending] = replayed
    if (debits_limited && debitsPosted + debitsPending > creditsPosted)
      this.#find('no account is overdrawn', `${code} ${id}`, `${replayed} after ${transfer}`)
    if (credits_limited && creditsPosted + creditsPending > debitsPosted)
      this.#find('payments do not exceed debts', `${code} ${id}`, `${replayed} after ${transfer}`)
  }

  compareSums(): void {
    const currencies = new Map<string, Sums>()
    for (const { id, code, currency, kept, replayed } of this.#accounts.values()) {
      if (kept.some((sum, index) => sum !== replayed[index]))
        this.#find('a balance is the sum of its transfers', `${code} ${id}`, `kept ${kept}, transfers ${replayed}`)
      const total = currencies.get(currency) ?? [0n, 0n, 0n, 0n]
      currencies.set(currency, total.map((sum, index) => sum + kept[index]) as Sums)
    }
    for (const [currency, [debitsPosted, creditsPosted, debitsPending, creditsPending]] of currencies)
      if (debitsPosted !== creditsPosted || debitsPending !== creditsPending)
        this.#find(
          'debits are credits',
          currency,
          `posted ${debitsPosted}, ${creditsPosted}; pending ${debitsPending}, ${creditsPending}`,
        )
  }

  compareHolds(rows: HoldRow[]): void {
    const listed = new Map(rows.map((row) => [row.transfer_id, row]))
    for (const { transfer_id: id } of rows)
      if (!this.#holds.has(id)) this.#find('each listed hold is a pending transfer', id, 'it is not held')
    for (const { id, expires_at } of this.#holds.values()) {
      const row = listed.get(id)
      if (row === undefined) this.#find('each pending transfer is listed as a hold', id, 'it is not')
      else if (row.expires_at?.getTime() !== expires_at?.getTime())
        this.#find('a hold is listed with its expiry', id, `${row.expires_at} instead of ${expires_at}`)
    }
  }
}

async function readAccounts(query: Queries): Promise<AccountRow[]> {
  const { rows } = await sql<AccountRow>`
    with apart as (
      select account_id, array[sum(debits_posted), sum(credits_posted), sum(debits_pending), sum(credits_pending)] as sums
      from ledger_hot_entries group by account_id
    )
    select id, code, currency, hot, debits_must_not_exceed_credits as debits_limited,
      credits_must_not_exceed_debits as credits_limited,
      to_json(array[debits_posted::text, credits_posted::text, debits_pending::text, credits_pending::text]) as row_sums,
      to_json(coalesce(apart.sums, array[0, 0, 0, 0])::text[]) as entry_sums
    from ledger_accounts left join apart on account_id = id`.execute(query)
  return rows
}

async function readTransfers(query: Queries, after: string): Promise<TransferRow[]> {
  const { rows } = await sql<TransferRow>`
    select position::text, id, kind, debit_account_id as debit, credit_account_id as credit, amount::text, currency,
      pending_id, expires_at, created_at
    from ledger_transfers where position > ${after}::text::bigint
    order by ledger_transfers.position limit ${transfersAtOnce}`.execute(query)
  return rows
}

async function readHolds(query: Queries): Promise<HoldRow[]> {
  const { rows } = await sql<HoldRow>`select transfer_id, expires_at from ledger_open_pendings`.execute(query)
  return rows
}
