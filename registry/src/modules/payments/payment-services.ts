import { AgentGymError } from '@agentgym/contract'
import type { Services } from '../../core/services.ts'
import type { OrderPayments, OrderServices } from '../orders/index.ts'
import { type PaymentProvider, type PaymentServices, providerName } from './payment-provider.ts'
import { createOrderPayment, openOrderPayment } from './start-payment.ts'
import { testProvider } from './test-provider.ts'

export function openPaymentServices<Given extends Services>(services: Given): Given & PaymentServices & OrderServices {
  let opened: Promise<PaymentProvider> | undefined
  const withProvider = { ...services, paymentProvider: () => (opened ??= openProvider(services.config)) }
  const orderPayments: OrderPayments = {
    create: (query, order) => createOrderPayment(query, services, order),
    open: (orderId) => openOrderPayment(withProvider, orderId),
  }
  return { ...withProvider, orderPayments }
}

async function openProvider(config: Services['config']): Promise<PaymentProvider> {
  if (config.market.stripe === null) return testProvider(config)
  // Loaded on demand: Stripe's SDK would add a tenth of a second to every start.
  const { stripeProvider } = await import('./stripe-provider.ts')
  return stripeProvider(config.market.stripe)
}

type Checked = Pick<Services, 'database' | 'config' | 'log'>

/**
 * Checks at start that this database may be used with this provider. Throws `money_needs_postgresql`, and
 * `config_invalid` if it contains another provider's money: test money would be paid out as real money.
 */
export async function requireMoneyDatabase(services: Checked): Promise<void> {
  requireMoneyEngine(services)
  const { query } = services.database
  const others = await query
    .selectFrom('payments')
    .select('provider')
    .where('provider', '<>', providerName(services))
    .where('state', 'in', ['succeeded', 'disputed'])
    .limit(1)
    .executeTakeFirst()
  if (others !== undefined) throw otherMoney(others.provider, providerName(services))
}

/** PGlite does not wait for the disk, so a power cut may undo acknowledged transactions. Real money needs explicit consent. */
function requireMoneyEngine({ database, config, log }: Checked): void {
  if (database.kind !== 'pglite') return
  const { stripe, moneyOnPglite } = config.market
  if (stripe === null) log.info('payments use test money; real money requires PostgreSQL (DATABASE_URL)')
  else if (moneyOnPglite) log.warn('real money is stored in PGlite, which may lose it in a power cut')
  else throw needsPostgresql()
}

function needsPostgresql(): AgentGymError {
  return new AgentGymError({
    code: 'money_needs_postgresql',
    message:
      'Stripe is configured, but the database is PGlite, which does not wait for the disk and could lose real money.',
    hint: 'Set DATABASE_URL to a PostgreSQL server, or AGENTGYM_MONEY_ON_PGLITE=allow if losing it is acceptable.',
  })
}

function otherMoney(theirs: string, ours: string): AgentGymError {
  const [holds, takes] = [theirs, ours].map((name) => (name === 'test' ? 'play money' : `money paid through ${name}`))
  return new AgentGymError({
    code: 'config_invalid',
    message: `The database holds ${holds}, and the settings accept ${takes}; the two must not be mixed.`,
    hint: 'Use a separate database, or restore the previous AGENTGYM_STRIPE_SECRET_KEY.',
    data: { field: 'AGENTGYM_STRIPE_SECRET_KEY' },
  })
}
