const millisecondsPerHour = 3_600_000

/**
 * What training has cost, in minor units. `priceMilliseconds` is Σ price an hour (minor units) × milliseconds trained at
 * that price: kept as it is, so that nothing is rounded on the way; the total is rounded up, once.
 */
export function trainingCostMinor(priceMilliseconds: number): number {
  return Math.ceil(priceMilliseconds / millisecondsPerHour)
}
