/** Money in and out: the payment provider, balances, payouts and earnings. */
export type { PaymentServices } from './payment-provider.ts'
export { openPaymentServices, requireMoneyDatabase } from './payment-services.ts'
export { paymentsModule } from './payments.module.ts'
