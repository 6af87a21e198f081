import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { openAccounts } from './accounts.ts'
import { applyTransfers } from './apply-transfers.ts'
import { auditLedger } from './audit-ledger.ts'
import { insertOwners } from './testing/insert-owners.ts'

const currency = 'EUR'

/** Damage that the database would refuse is done with its triggers and constraints off, and taken back afterwards. */
describeOnEngines('the auditor on $kind', ({ open }) => {
  let database: Database
  let balance: string
  let provider: string
  let fees: string
  const hold = randomUUID()
  const expired = randomUUID()
  const ended = randomUUID()
  beforeAll(async () => {
    database = await open()
    const [owner] = await insertOwners(database, 1)
    ;[balance, fees, provider] = await database.transaction((query) =>
      openAccounts(query, [
        { owner, code: 'balance', currency },
        { owner: null, code: 'fees', currency },
        { owner: null, code: 'provider', currency },
      ]),
    )
    const between = { debitAccountId: balance, creditAccountId: fees, amountMinor: 10n, currency, code: 'sale' }
    const topUp = { ...between, debitAccountId: provider, creditAccountId: balance, amountMinor: 100n }
    await database.transaction((query) =>
      applyTransfers(query, [
        { ...topUp, id: randomUUID(), kind: 'posted' },
        { ...between, id: hold, kind: 'pending' },
        { ...between, id: expired, kind: 'pending', expiresAt: new Date(0) },
        { ...between, id: ended, kind: 'pending' },
        { id: randomUUID(), kind: 'post', pendingId: ended, code: 'sale', amountMinor: 5n },
      ]),
    )
  })
  afterAll(() => database.close())

  /** Findings of the audit after the damage. */
  const found = async (...statements: string[]): Promise<string[]> => {
    const tables = ['ledger_accounts', 'ledger_transfers', 'ledger_hot_entries', 'ledger_open_pendings']
    for (const table of tables) await database.execute(`create table copy_of_${table} as table ${table}`)
    const generated = 'overriding system value'
    // In one call, so that the setting is gone with it.
    const without = (...work: string[]) =>
      database.execute(['begin', `set local session_replication_role = replica`, ...work, 'commit'].join(';'))
    const constraints = ['ledger_accounts_debits_limit', 'ledger_accounts_credits_posted_check']
    for (const name of constraints) await database.execute(`alter table ledger_accounts drop constraint ${name}`)
    await without(...statements)
    const findings = await auditLedger(database)
    await without(
      ...tables.map((table) => `delete from ${table}`),
      ...tables.map((table) => `insert into ${table} ${generated} table copy_of_${table}`),
      ...tables.map((table) => `drop table copy_of_${table}`),
    )
    await database.execute(
      `alter table ledger_accounts add constraint ledger_accounts_credits_posted_check check (credits_posted >= 0),
        add constraint ledger_accounts_debits_limit
          check (not debits_must_not_exceed_credits or debits_posted + debits_pending <= credits_posted)`,
    )
    return [...new Set(findings.map(({ rule }) => rule))].sort()
  }
  const transfer = (kind: string, amount: number, more: { id?: string; pending?: string; to?: string } = {}) =>
    `insert into ledger_transfers (id, kind, debit_account_id, credit_account_id, amount, currency, code, pending_id)
      values ('${more.id ?? randomUUID()}', '${kind}', '${balance}', '${more.to ?? fees}', ${amount}, '${currency}', 'sale',
        ${more.pending ? `'${more.pending}'` : 'null'})`

  it('finds nothing in a consistent ledger', async () => {
    expect(await auditLedger(database)).toEqual([])
    expect(await found('select')).toEqual([])
  })

  it('reports a changed sum, and that debits differ from credits', async () => {
    expect(
      await found(`update ledger_accounts set credits_posted = credits_posted + 1 where id = '${balance}'`),
    ).toEqual(['a balance is the sum of its transfers', 'debits are credits'])
    expect(await found(`update ledger_accounts set credits_posted = -1 where id = '${balance}'`)).toContain(
      'no total is negative',
    )
  })

  it('reports a lost entry', async () => {
    expect(await found(`delete from ledger_hot_entries where account_id = '${provider}'`)).toEqual([
      'a balance is the sum of its transfers',
      'debits are credits',
    ])
  })

  it('reports a transfer that was removed, added or changed', async () => {
    const wrong = 'a balance is the sum of its transfers'
    expect(await found(`delete from ledger_transfers where id = '${expired}'`)).toContain(wrong)
    expect(await found(transfer('posted', 1))).toEqual([wrong])
    expect(await found(`update ledger_transfers set amount = amount + 1 where id = '${hold}'`)).toEqual([wrong])
    expect(await found(`update ledger_transfers set credit_account_id = '${provider}' where id = '${hold}'`)).toEqual([
      wrong,
    ])
  })

  it('reports an overdraft, even if it was later covered', async () => {
    const back = `insert into ledger_transfers (id, kind, debit_account_id, credit_account_id, amount, currency, code)
      values (gen_random_uuid(), 'posted', '${fees}', '${balance}', 500, '${currency}', 'sale')`
    expect(await found(transfer('posted', 500), back)).toContain('no account is overdrawn')
  })

  it('reports posts and voids that do not match their holds', async () => {
    const second = await found(
      transfer('void', 10, { pending: ended }).replace('insert', 'drop index ledger_transfers_pending_id_key; insert'),
    )
    expect(second).toContain('only holds are resolved, each once')
    await database.execute(
      'create unique index ledger_transfers_pending_id_key on ledger_transfers (pending_id) where pending_id is not null',
    )
    expect(await found(transfer('post', 11, { pending: hold }))).toContain('a post does not exceed its hold')
    expect(await found(transfer('void', 9, { pending: hold }))).toContain('a post does not exceed its hold')
    expect(await found(transfer('post', 9, { pending: hold, to: provider }))).toContain(
      'a hold is resolved on its own accounts',
    )
    expect(await found(transfer('post', 10, { pending: expired }))).toContain('expired holds are not posted')
    expect(await found(transfer('post', 10, { pending: randomUUID() }))).toContain('only holds are resolved, each once')
  })

  it('reports missing and extra listed holds', async () => {
    expect(await found(`delete from ledger_open_pendings where transfer_id = '${hold}'`)).toEqual([
      'each pending transfer is listed as a hold',
    ])
    expect(await found(`insert into ledger_open_pendings values ('${ended}', null)`)).toEqual([
      'each listed hold is a pending transfer',
    ])
    expect(await found(`update ledger_open_pendings set expires_at = now() where transfer_id = '${hold}'`)).toEqual([
      'a hold is listed with its expiry',
    ])
  })

  it('finds nothing after the repair', async () => {
    expect(await auditLedger(database)).toEqual([])
  })
})
