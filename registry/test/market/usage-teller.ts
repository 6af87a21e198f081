// Reports and posts usage in a separate process, to be killed: `node usage-teller.ts ADDRESS`, the settings as a
// message.
import { once } from 'node:events'
import { openDatabase } from '../../src/core/database/open-database.ts'
import { countUsage } from '../../src/modules/metering/count-usage.ts'
import { postUsage } from '../../src/modules/metering/post-usage.ts'
import type { UsageTeller } from './usage-kill.test.ts'

const [address] = process.argv.slice(2)
const [settings] = await once(process, 'message')
const { config, chunks, from, eventsABatch } = settings as UsageTeller
const database = await openDatabase(JSON.parse(address))
const silent = () => {}
const log = { info: silent, warn: silent, error: (message: string, data: unknown) => console.error(message, data) }
const services = { database, config, log }
const limits = { fromMinor: 0, afterSeconds: 0, events: eventsABatch }
process.send?.({ begun: true })
for (const [index, events] of chunks.entries()) {
  if (index < from) continue
  const [, posted] = await Promise.all([countUsage(services, events), postUsage(services as never, limits)])
  process.send?.({ reported: index + 1, posted })
}
await postUsage(services as never, limits)
await database.close()
process.disconnect?.()
