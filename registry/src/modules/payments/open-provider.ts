import type { Services } from '../../core/services.ts'
import type { PaymentProvider } from './payment-provider.ts'
import { testProvider } from './test-provider.ts'

type Opening = Pick<Services, 'config'>

const opened = new WeakMap<Services['config'], Promise<PaymentProvider>>()

/** Whom this installation is paid through: Stripe where it is set up, else `test`. One a process. */
export function paymentProvider({ config }: Opening): Promise<PaymentProvider> {
  const known = opened.get(config)
  if (known !== undefined) return known
  const opening = openProvider(config)
  opened.set(config, opening)
  return opening
}

export function providerName({ config }: Opening): PaymentProvider['name'] {
  return config.market.stripe === null ? 'test' : 'stripe'
}

async function openProvider(config: Services['config']): Promise<PaymentProvider> {
  if (config.market.stripe === null) return testProvider(config)
  // Loaded only where it is wanted: its SDK would cost every start a tenth of a second.
  const { stripeProvider } = await import('./stripe-provider.ts')
  return stripeProvider(config.market.stripe)
}
