/** Prices and terms of packages, and offers based on them. */
export { describeOffer, makeOffer } from './offer.ts'
export { pricesAt } from './price-page.ts'
export { pricesModule } from './prices.module.ts'
export { termsAt } from './sale-terms.ts'
