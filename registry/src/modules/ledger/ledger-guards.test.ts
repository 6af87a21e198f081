import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { violatedConstraint } from '../../core/database/violated-constraint.ts'
import { openAccounts, readAccounts } from './accounts.ts'
import { applyTransfers } from './apply-transfers.ts'
import { auditLedger } from './audit-ledger.ts'
import { type AccountCode, chartOfAccounts } from './rules/chart-of-accounts.ts'
import { insertOwners } from './testing/insert-owners.ts'

const currency = 'EUR'
const past = '2001-01-01T00:00:00Z'

/**
 * Raw statements on purpose, by the role that owns the tables: the database must refuse them regardless of our code.
 * Grants would not hold this role back; triggers and constraints do.
 */
describeOnEngines('what the ledger refuses on $kind', ({ open }) => {
  let database: Database
  let balance: string
  let debt: string
  let fees: string
  let provider: string
  let pounds: string
  const topUp = randomUUID()
  const hold = randomUUID()
  const expiredHold = randomUUID()
  const ended = randomUUID()
  beforeAll(async () => {
    database = await open()
    const [owner] = await insertOwners(database, 1)
    ;[balance, debt, fees, provider, pounds] = await database.transaction((query) =>
      openAccounts(query, [
        { owner, code: 'balance', currency },
        { owner, code: 'debt', currency },
        { owner: null, code: 'fees', currency },
        { owner: null, code: 'provider', currency },
        { owner, code: 'balance', currency: 'GBP' },
      ]),
    )
    const between = { debitAccountId: balance, creditAccountId: fees, amountMinor: 10n, currency, code: 'sale' }
    await database.transaction((query) =>
      applyTransfers(query, [
        {
          ...between,
          id: topUp,
          kind: 'posted',
          debitAccountId: provider,
          creditAccountId: balance,
          amountMinor: 100n,
        },
        { ...between, id: hold, kind: 'pending' },
        { ...between, id: expiredHold, kind: 'pending', expiresAt: new Date(past) },
        { ...between, id: ended, kind: 'pending' },
        { id: randomUUID(), kind: 'void', pendingId: ended, code: 'sale' },
      ]),
    )
  })
  afterAll(() => database.close())

  const refusal = async (statement: string, parameters: unknown[] = []) =>
    violatedConstraint(
      await database.execute(statement, parameters).then(
        () => undefined,
        (error) => error,
      ),
    )
  const insert = async (fields: Record<string, unknown>) => {
    const row = {
      ...{ id: randomUUID(), kind: 'posted', debit_account_id: balance, credit_account_id: fees, amount: '10' },
      ...{ currency, code: 'sale', ...fields },
    }
    const places = Object.keys(row).map((_, index) => `$${index + 1}`)
    return refusal(`insert into ledger_transfers (${Object.keys(row)}) values (${places})`, Object.values(row))
  }

  it.each([
    ['update ledger_transfers set amount = 1', 'ledger_transfers_kept'],
    ["update ledger_transfers set code = 'x' where kind = 'posted'", 'ledger_transfers_kept'],
    ['delete from ledger_transfers', 'ledger_transfers_kept'],
    ['truncate ledger_transfers cascade', 'ledger_transfers_kept_truncate'],
    ['update ledger_accounts set credits_posted = credits_posted + 1', 'ledger_accounts_fixed'],
    ['update ledger_accounts set debits_pending = 0', 'ledger_accounts_fixed'],
    ['update ledger_accounts set debits_must_not_exceed_credits = false', 'ledger_accounts_fixed'],
    ['update ledger_accounts set hot = true', 'ledger_accounts_fixed'],
    ['update ledger_accounts set owner_id = null', 'ledger_accounts_fixed'],
    ['delete from ledger_accounts', 'ledger_accounts_kept'],
    ['truncate ledger_accounts cascade', 'ledger_accounts_kept_truncate'],
    ['update ledger_hot_entries set credits_posted = 1000', 'ledger_hot_entries_kept'],
    ['truncate ledger_hot_entries', 'ledger_hot_entries_kept_truncate'],
    ['update ledger_open_pendings set expires_at = null', 'ledger_open_pendings_kept'],
    ['delete from ledger_open_pendings', 'ledger_open_pendings_from_transfers'],
    ['truncate ledger_open_pendings', 'ledger_open_pendings_kept_truncate'],
  ])('%s', async (statement, constraint) => {
    expect(await refusal(statement)).toBe(constraint)
  })

  it('refuses entries and holds without a transfer', async () => {
    const entry =
      'insert into ledger_hot_entries (account_id, debits_posted, credits_posted, debits_pending, credits_pending)'
    expect(await refusal(`${entry} values ($1, 0, 5, 0, 0)`, [fees])).toBe('ledger_hot_entries_from_transfers')
    const listed = 'insert into ledger_open_pendings (transfer_id) values ($1)'
    expect(await refusal(listed, [randomUUID()])).toBe('ledger_open_pendings_from_transfers')
  })

  it('allows manual folding, which keeps balances unchanged', async () => {
    const before = await readAccounts(database.query, [fees, provider])
    expect(await refusal('delete from ledger_hot_entries')).toBeUndefined()
    expect(await readAccounts(database.query, [fees, provider])).toEqual(before)
  })

  it('refuses invalid transfers', async () => {
    expect(await insert({ amount: '0' })).toBe('ledger_transfers_amount_check')
    expect(await insert({ amount: '-5' })).toBe('ledger_transfers_amount_check')
    expect(await insert({ amount: '1000000000000001' })).toBe('ledger_transfers_amount_check')
    expect(await insert({ credit_account_id: balance })).toBe('ledger_transfers_accounts_check')
    expect(await insert({ debit_account_id: randomUUID() })).toBe('ledger_transfers_debit_account_fkey')
    expect(await insert({ credit_account_id: randomUUID() })).toBe('ledger_transfers_credit_account_fkey')
    expect(await insert({ credit_account_id: pounds })).toBe('ledger_transfers_credit_account_fkey')
    expect(await insert({ debit_account_id: pounds })).toBe('ledger_transfers_debit_account_fkey')
    expect(await insert({ kind: 'gift' })).toBe('ledger_transfers_kind_check')
    expect(await insert({ code: 'Sale' })).toBe('ledger_transfers_code_check')
    expect(await insert({ id: topUp })).toBe('ledger_transfers_pkey')
    expect(await insert({ expires_at: past })).toBe('ledger_transfers_expires_at_check')
  })

  it('refuses overdrafts and overpayments', async () => {
    expect(await insert({ amount: '81' })).toBe('ledger_accounts_debits_limit')
    expect(await insert({ amount: '81', kind: 'pending' })).toBe('ledger_accounts_debits_limit')
    expect(await insert({ debit_account_id: provider, credit_account_id: debt })).toBe('ledger_accounts_credits_limit')
  })

  it('refuses posts and voids without a matching hold', async () => {
    const post = (fields: Record<string, unknown>) => insert({ kind: 'post', pending_id: hold, ...fields })
    expect(await post({ pending_id: null })).toBe('ledger_transfers_pending_check')
    expect(await insert({ pending_id: hold })).toBe('ledger_transfers_pending_check')
    expect(await post({ pending_id: randomUUID() })).toBe('ledger_transfers_pending_id_fkey')
    expect(await post({ pending_id: topUp })).toBe('ledger_transfers_resolution')
    expect(await post({ amount: '11' })).toBe('ledger_transfers_resolution')
    expect(await post({ kind: 'void', amount: '9' })).toBe('ledger_transfers_resolution')
    expect(await post({ debit_account_id: provider })).toBe('ledger_transfers_resolution')
    expect(await post({ credit_account_id: provider })).toBe('ledger_transfers_resolution')
    expect(await post({ pending_id: expiredHold })).toBe('ledger_transfers_resolution')
    expect(await post({ pending_id: ended })).toBe('ledger_transfers_pending_id_key')
  })

  it('refuses accounts outside the chart', async () => {
    const [owner] = await insertOwners(database, 1)
    const open = (code: string, of: string | null, limits: boolean[], more: Record<string, unknown> = {}) => {
      const [debits, credits, hot] = limits
      const row = {
        ...{ owner_id: of, code, currency: 'USD' },
        ...{ debits_must_not_exceed_credits: debits, credits_must_not_exceed_debits: credits, hot, ...more },
      }
      const places = Object.keys(row).map((_, index) => `$${index + 1}`)
      return refusal(`insert into ledger_accounts (${Object.keys(row)}) values (${places})`, Object.values(row))
    }
    expect(await open('gifts', null, [false, false, false])).toBe('ledger_accounts_chart_check')
    for (const code of Object.keys(chartOfAccounts) as AccountCode[]) {
      const { owned, debitsMustNotExceedCredits, creditsMustNotExceedDebits, hot } = chartOfAccounts[code]
      const limits = [debitsMustNotExceedCredits, creditsMustNotExceedDebits, hot]
      const whose = owned ? owner : null
      expect(await open(code, owned ? null : owner, limits)).toBe('ledger_accounts_chart_check')
      for (const index of limits.keys())
        expect(await open(code, whose, limits.with(index, !limits[index]))).toBe('ledger_accounts_chart_check')
      expect(await open(code, whose, limits, { currency: 'usd' })).toBe('ledger_accounts_currency_check')
      expect(await open(code, whose, limits, { debits_posted: 5, credits_posted: 5 })).toBe('ledger_accounts_empty')
      expect(await open(code, whose, limits)).toBeUndefined()
      expect(await open(code, whose, limits)).toBe('ledger_accounts_owner_code_currency_key')
    }
  })

  it('leaves the ledger consistent', async () => {
    expect(await auditLedger(database)).toEqual([])
  })
})
