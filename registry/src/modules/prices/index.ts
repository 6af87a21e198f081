/** Prices, terms and offers of packages. */
export { describeOffer, makeOffer } from './offer.ts'
export { pricesAt } from './price-page.ts'
export { pricesModule } from './prices.module.ts'
export { termsAt } from './sale-terms.ts'
