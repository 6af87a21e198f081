/** Most that one transfer moves, in minor units. */
export const maxAmountMinor = 10n ** 15n
/** Parts are told in basis points: hundredths of a per cent. */
const wholeBasisPoints = 10_000

export function isAmount(amountMinor: bigint): boolean {
  return amountMinor >= 1n && amountMinor <= maxAmountMinor
}

/** Three letters, as ISO 4217 has them. Which currency there is, the installation's settings say. */
export function isCurrency(currency: string): boolean {
  return /^[A-Z]{3}$/.test(currency)
}

export function areBasisPoints(basisPoints: number): boolean {
  return Number.isInteger(basisPoints) && basisPoints >= 0 && basisPoints <= wholeBasisPoints
}

/** That many basis points of an amount, rounded down. */
export function partOf(amountMinor: bigint, basisPoints: number): bigint {
  return (amountMinor * BigInt(basisPoints)) / BigInt(wholeBasisPoints)
}
