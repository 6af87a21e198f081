/** Prices in effect, licenses, and who may have the files of a package. */
export {
  holdsAnyLicense,
  howToBuy,
  majorOf,
  packageTakenDown,
  paymentRequired,
  readLicenseState,
  refusal,
  requireTarball,
  tarballAccess,
  tarballRefusal,
  useLicense,
} from './entitlements.ts'
export {
  entryOf,
  type HeldPrice,
  heldFirst,
  heldPrice,
  inEffect,
  type PriceTerms,
  priceAt,
  priceEntries,
  priceOf,
  priceTakesEffectAt,
  type StoredPrice,
  unsetPrice,
  upcomingPrices,
} from './prices.store.ts'
