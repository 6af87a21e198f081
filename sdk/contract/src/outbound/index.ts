export { type AddressRules, checkAddress, publicLookup, refusedAddress } from './checked-address.ts'
export { isPublicAddress } from './public-address.ts'
