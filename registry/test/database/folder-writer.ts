// node folder-writer.ts FOLDER ACKNOWLEDGED: opens the embedded database in FOLDER and writes numbered audit entries,
// one a transaction and each noted in ACKNOWLEDGED once it is committed, until it is killed.
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { openDatabase } from '../../src/core/database/open-database.ts'

const [folder, acknowledged] = process.argv.slice(2)
const database = await openDatabase({ folder })
process.send?.('open')
const notes = openSync(acknowledged, 'a')
process.on('exit', () => closeSync(notes))
for (let number = 1; ; number++) {
  await database.transaction(async (query) => {
    // Two rows that belong together: half a transaction would show.
    for (const action of ['first', 'second'])
      await query
        .insertInto('audit')
        .values({ actor_id: null, token_id: null, action, subject: `${process.pid}:${number}`, ip: null, data: {} })
        .execute()
  })
  writeSync(notes, `${process.pid}:${number}\n`)
  fsyncSync(notes)
}
