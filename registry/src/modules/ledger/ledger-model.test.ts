import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { isLong } from '@agentgym/testkit/tier'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { openAccounts, readAccounts } from './accounts.ts'
import { applyTransfers } from './apply-transfers.ts'
import { auditLedger } from './audit-ledger.ts'
import { expireTransfers, foldHotAccounts } from './ledger.tasks.ts'
import type { AccountCode } from './rules/chart-of-accounts.ts'
import { decideTransfers, type LedgerAccount } from './rules/decide-transfers.ts'
import type { RecordedTransfer, Transfer, TransferResult } from './rules/transfer.ts'
import { insertOwners } from './testing/insert-owners.ts'

const trials = isLong ? 500 : 8
const stepsATrial = isLong ? 200 : 60
/** How often the whole ledger is audited: it grows with the trials. */
const trialsAnAudit = isLong ? 20 : 1

const codes: AccountCode[] = ['balance', 'balance', 'earnings', 'earnings', 'debt', 'fees', 'provider', 'payouts']
/** Beside the accounts: one of another currency, and one that there is not. */
const accountCount = codes.length + 2

/** A transfer as a step asks for it: accounts by their place, earlier transfers by how many steps back they were made. */
type Asked = {
  kind: Transfer['kind']
  debit: number
  credit: number
  amount: number
  back: number
  expires: 'never' | 'long ago' | 'some day'
  linked: boolean
  sameId: boolean
}
type Step =
  | { do: 'apply' | 'fail' | 'twice'; asked: Asked[] }
  | { do: 'again'; back: number }
  | { do: 'fold' }
  | { do: 'expire' }
  | { do: 'reopen' }

/** Money comes in by the provider often enough for the rest to have some. */
const places = fc.tuple(fc.nat(accountCount - 1), fc.nat(accountCount - 1))
const topUps = fc.tuple(fc.constant(codes.indexOf('provider')), fc.nat(3))
const asked: fc.Arbitrary<Asked> = fc
  .record({
    kind: fc.constantFrom('posted', 'posted', 'pending', 'pending', 'post', 'void'),
    between: fc.oneof({ weight: 3, arbitrary: places }, { weight: 1, arbitrary: topUps }),
    amount: fc.oneof(
      { weight: 20, arbitrary: fc.integer({ min: 1, max: 100 }) },
      { weight: 1, arbitrary: fc.constant(0) },
    ),
    back: fc.nat(6),
    expires: fc.constantFrom('never', 'never', 'some day', 'long ago'),
    linked: fc.boolean(),
    sameId: fc.integer({ min: 0, max: 15 }).map((number) => number === 0),
  })
  .map(({ between: [debit, credit], kind, ...rest }) => ({ ...rest, kind: kind as Transfer['kind'], debit, credit }))
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 20,
      arbitrary: fc.record({
        do: fc.constant('apply' as const),
        asked: fc.array(asked, { minLength: 1, maxLength: 5 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constantFrom('fail' as const, 'twice' as const),
        asked: fc.array(asked, { minLength: 1, maxLength: 3 }),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('again' as const), back: fc.nat(5) }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Step>({ do: 'fold' }, { do: 'expire' }, { do: 'reopen' }),
    },
  ),
  { minLength: isLong ? stepsATrial : 1, maxLength: stepsATrial, size: 'max' },
)

/** All results of a transfer except overflows, which would need more money than there is here. */
const everything = [
  ...['account_not_found', 'accounts_same', 'amount_invalid', 'created', 'currency_mismatch', 'exists', 'id_taken'],
  ...['insufficient_funds', 'linked_failed', 'more_than_owed', 'more_than_pending', 'pending_expired'],
  ...['pending_not_found', 'pending_resolved'],
]

const longAgo = new Date('2001-01-01T00:00:00Z')
const someDay = new Date('2101-01-01T00:00:00Z')

/** The model of the ledger: the pure decision on maps. */
class Model {
  readonly accounts = new Map<string, LedgerAccount>()
  readonly transfers = new Map<string, RecordedTransfer>()
  readonly resolved = new Set<string>()

  apply(transfers: Transfer[]): TransferResult[] {
    const { results, created, accounts } = decideTransfers(this, transfers, new Date())
    for (const transfer of created) {
      this.transfers.set(transfer.id, transfer)
      if (transfer.pendingId !== null) this.resolved.add(transfer.pendingId)
    }
    for (const [id, account] of accounts) this.accounts.set(id, account)
    return results
  }

  /** Voids what has expired, by the transfers that the ledger has done it by. */
  expire(ids: Map<string, string>): void {
    const expired = [...this.transfers.values()].filter(
      ({ id, kind, expiresAt }) => kind === 'pending' && expiresAt === longAgo && !this.resolved.has(id),
    )
    const asVoid = ({ id: pendingId }: RecordedTransfer): Transfer => ({
      ...{ id: ids.get(pendingId) ?? '', kind: 'void', pendingId, code: 'expired' },
    })
    this.apply(expired.map(asVoid))
  }
}

class Trial {
  readonly model = new Model()
  readonly database: Database
  readonly keys: Parameters<typeof openAccounts>[1]
  accounts: string[] = []
  /** Calls so far, for those that ask again. */
  readonly calls: Transfer[][] = []
  /** Results of transfers over all trials. */
  readonly seen: Set<string>

  constructor(database: Database, owners: string[], currencies: [string, string], seen: Set<string>) {
    this.database = database
    this.seen = seen
    const owned = codes.map((code, index) => ({
      ...{ owner: index < 5 ? owners[index % 2] : null, code, currency: currencies[0] },
    }))
    this.keys = [...owned, { owner: owners[0], code: 'balance', currency: currencies[1] }]
  }

  async open(): Promise<void> {
    this.accounts = [...(await this.database.transaction((query) => openAccounts(query, this.keys))), randomUUID()]
    for (const account of (await readAccounts(this.database.query, this.accounts)).values())
      this.model.accounts.set(account.id, account)
  }

  async run(step: Step): Promise<void> {
    const { database, model } = this
    if ('asked' in step) {
      const count = step.asked.length
      await this.ask(
        step.do,
        step.asked.map((asked, index) => this.transfer(asked, index, count)),
      )
    } else if (step.do === 'fold') await foldHotAccounts(database)
    else if (step.do === 'expire') {
      await expireTransfers(database)
      model.expire(await this.expired())
    } else if (step.do === 'reopen')
      expect(await database.transaction((query) => openAccounts(query, this.keys))).toEqual(this.accounts.slice(0, -1))
    else await this.apply(this.calls.at(-1 - step.back) ?? [])
  }

  async ask(how: 'apply' | 'fail' | 'twice', transfers: Transfer[]): Promise<void> {
    if (how === 'fail') {
      const failed = this.database.transaction(async (query) => {
        await applyTransfers(query, transfers)
        throw new Error('on purpose')
      })
      await expect(failed).rejects.toThrow('on purpose')
    } else if (how === 'twice') {
      const both = this.database.transaction(async (query) => [
        ...(await applyTransfers(query, transfers)),
        ...(await applyTransfers(query, transfers)),
      ])
      expect(await both).toEqual([...this.model.apply(transfers), ...this.model.apply(transfers)])
    } else await this.apply(transfers)
  }

  async apply(transfers: Transfer[]): Promise<void> {
    this.calls.push(transfers)
    const results = await this.database.transaction((query) => applyTransfers(query, transfers))
    expect(results).toEqual(this.model.apply(transfers))
    for (const result of results) this.seen.add(result.outcome === 'refused' ? result.reason : result.outcome)
  }

  transfer(
    { kind, debit, credit, amount, back, expires, linked, sameId }: Asked,
    index: number,
    count: number,
  ): Transfer {
    const made = [...this.model.transfers.values()]
    const chained = linked && index < count - 1 ? { linked } : {}
    const id = (sameId ? made.at(-1 - back)?.id : undefined) ?? randomUUID()
    if (kind === 'posted' || kind === 'pending')
      return {
        ...{ id, kind, debitAccountId: this.accounts[debit], creditAccountId: this.accounts[credit] },
        ...{ amountMinor: BigInt(amount), currency: this.keys[0].currency, code: 'model' },
        ...(kind === 'pending' && expires !== 'never' ? { expiresAt: expires === 'long ago' ? longAgo : someDay } : {}),
        ...chained,
      }
    const pending = made.filter((transfer) => transfer.kind === 'pending').at(-1 - back)?.id ?? randomUUID()
    const part = kind === 'post' && amount % 2 === 0 ? { amountMinor: BigInt(amount) } : {}
    return { id, kind, pendingId: pending, code: 'model', ...part, ...chained }
  }

  /** Of transfers that expired: their ids, and those of what voided them. */
  async expired(): Promise<Map<string, string>> {
    const voids = this.database.query.selectFrom('ledger_transfers').where('code', '=', 'expired')
    const rows = await voids.where('currency', '=', this.keys[0].currency).select(['id', 'pending_id']).execute()
    return new Map(rows.map(({ id, pending_id: pendingId }) => [pendingId ?? '', id]))
  }

  async check(): Promise<void> {
    expect(await readAccounts(this.database.query, this.accounts)).toEqual(this.model.accounts)
  }
}

describeOnEngines('the ledger, step by step, on $kind', ({ open }) => {
  let database: Database
  let owners: string[]
  let currencies = 0
  beforeAll(async () => {
    database = await open()
    owners = await insertOwners(database, 2)
  })
  afterAll(() => database.close())

  /** Fresh ones each trial, and with them fresh accounts of the platform: AAA, AAB … */
  const nextCurrency = () => {
    const number = currencies++
    return [676, 26, 1].map((place) => String.fromCharCode(65 + (Math.floor(number / place) % 26))).join('')
  }

  it('any requests match the pure decision and pass the audit', async () => {
    let tried = 0
    const seen = new Set<string>()
    const property = fc.asyncProperty(steps, async (given) => {
      const trial = new Trial(database, owners, [nextCurrency(), nextCurrency()], seen)
      await trial.open()
      for (const step of given) await trial.run(step)
      await trial.check()
      if (++tried % trialsAnAudit === 0) expect(await auditLedger(database)).toEqual([])
    })
    await fc.assert(property, { numRuns: trials })
    expect(await auditLedger(database)).toEqual([])
    if (isLong) expect([...seen].sort()).toEqual(everything)
  }, 3_600_000)
})
