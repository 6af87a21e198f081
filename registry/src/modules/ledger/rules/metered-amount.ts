import assert from 'node:assert'

const callsAPrice = 1_000n

/**
 * What calls come to at a price of 1,000 calls, in whole minor units. What is left, in thousandths of a minor unit (0 to
 * 999), is carried to the next batch, so that the sum over batches is the same however the calls are cut into them.
 */
export function meteredAmount({
  calls,
  priceMinor,
  remainder,
}: {
  calls: bigint
  /** Of 1,000 calls. */
  priceMinor: bigint
  remainder: bigint
}): { amountMinor: bigint; remainder: bigint } {
  assert(calls >= 0n && priceMinor >= 0n, 'calls and their price are not negative')
  assert(remainder >= 0n && remainder < callsAPrice, 'a remainder is 0 to 999 thousandths')
  const thousandths = remainder + calls * priceMinor
  return { amountMinor: thousandths / callsAPrice, remainder: thousandths % callsAPrice }
}
