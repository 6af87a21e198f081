// Asks for a payout in a process of its own, to be killed: `node payout-sender.ts ADDRESS SETTINGS`.
import { openDatabase } from '../../src/core/database/open-database.ts'
import type { Services } from '../../src/core/services.ts'
import { requestPayout } from '../../src/modules/payments/request-payout.ts'
import type { PayoutSender } from './payout-kill.test.ts'

const [address, settings] = process.argv.slice(2)
const { config, actor, idempotencyKey } = JSON.parse(settings) as PayoutSender
const database = await openDatabase(JSON.parse(address))
const silent = () => {}
const services = { database, config, log: { info: silent, warn: silent, error: silent } }
const asked = { actor: { ...actor, scopes: new Set(actor.scopes) }, request: {}, idempotencyKey, ip: '127.0.0.1' }
process.send?.('asking')
await requestPayout(services as unknown as Services, asked)
await database.close()
