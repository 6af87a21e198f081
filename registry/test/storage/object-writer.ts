// node object-writer.ts FOLDER ACKNOWLEDGED: puts random objects into the disk store in FOLDER and notes each key in
// ACKNOWLEDGED once it is stored, until it is killed.
import { randomBytes, randomInt } from 'node:crypto'
import { fsyncSync, openSync, writeSync } from 'node:fs'
import { openDiskObjectStore } from '../../src/core/storage/disk-object-store.ts'

const [folder, acknowledged] = process.argv.slice(2)
const store = await openDiskObjectStore(folder)
const notes = openSync(acknowledged, 'a')
process.send?.('open')
for (;;) {
  const key = await store.put(randomBytes(randomInt(1_000_000)))
  writeSync(notes, `${key}\n`)
  fsyncSync(notes)
}
