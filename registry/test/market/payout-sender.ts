// Asks for a payout in a process of its own, to be killed: `node payout-sender.ts ADDRESS SETTINGS`.
import { openDatabase } from '../../src/core/database/open-database.ts'
import type { Services } from '../../src/core/services.ts'
import { openPaymentServices } from '../../src/modules/payments/payment-services.ts'
import { requestPayout } from '../../src/modules/payments/payouts.ts'
import type { PayoutSender } from './payout-kill.test.ts'

const [address, settings] = process.argv.slice(2)
const { config, actor, idempotencyKey } = JSON.parse(settings) as PayoutSender
const database = await openDatabase(JSON.parse(address))
const silent = () => {}
const core = { database, config, log: { info: silent, warn: silent, error: silent } }
const requested = { actor: { ...actor, scopes: new Set(actor.scopes) }, request: {}, idempotencyKey, ip: '127.0.0.1' }
process.send?.('asking')
await requestPayout(openPaymentServices(core as unknown as Services), requested)
await database.close()
