// node ledger-writer.ts ADDRESS ACCOUNTS INTENDED ACKNOWLEDGED: makes purchases until it is killed, several at once, and folds
// and expires meanwhile. Each is noted in INTENDED before it is asked for, and in ACKNOWLEDGED once it is committed.
import { randomUUID } from 'node:crypto'
import { openSync, writeSync } from 'node:fs'
import { openDatabase } from '../../src/core/database/open-database.ts'
import { applyTransfers } from '../../src/modules/ledger/apply-transfers.ts'
import { expireTransfers, foldHotAccounts } from '../../src/modules/ledger/ledger.tasks.ts'
import { purchase } from './ledger-purchase.ts'

const [address, accounts] = process.argv.slice(2, 4).map((text) => JSON.parse(text))
const [intended, acknowledged] = process.argv.slice(4).map((file) => openSync(file, 'a'))
const database = await openDatabase(address)

async function buy(): Promise<never> {
  for (;;) {
    const id = randomUUID()
    writeSync(intended, `${id}\n`)
    const results = await database.transaction((query) => applyTransfers(query, purchase(id, accounts)))
    if (results.some(({ outcome }) => outcome !== 'created')) throw new Error(JSON.stringify(results))
    writeSync(acknowledged, `${id}\n`)
  }
}

async function keepUp(): Promise<never> {
  for (;;) {
    await foldHotAccounts(database)
    await expireTransfers(database)
  }
}

await Promise.all([buy(), buy(), buy(), buy(), keepUp()])
