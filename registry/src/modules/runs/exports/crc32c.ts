/** Castagnoli's polynomial, bits reversed. */
const POLYNOMIAL = 0x82f63b78

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte
  for (let bit = 0; bit < 8; bit++) remainder = (remainder >>> 1) ^ (remainder & 1 ? POLYNOMIAL : 0)
  return remainder >>> 0
})

/** CRC-32C (RFC 3720, appendix B.4) as an unsigned number; Node's own `crc32` is of another polynomial. */
export function crc32c(bytes: Uint8Array): number {
  let remainder = 0xffffffff
  for (const byte of bytes) remainder = (remainder >>> 8) ^ table[(remainder ^ byte) & 0xff]
  return (remainder ^ 0xffffffff) >>> 0
}
