import { expect, it } from 'vitest'
import { crc32c } from './crc32c.ts'

// RFC 3720, appendix B.4, and the check value that catalogues of CRCs give.
it.each([
  ['nothing', new Uint8Array(0), 0],
  ['the digits 1 to 9', Buffer.from('123456789'), 0xe3069283],
  ['32 bytes of zeroes', new Uint8Array(32), 0x8a9136aa],
  ['32 bytes of ones', new Uint8Array(32).fill(0xff), 0x62a8ab43],
  ['32 bytes that count up', Uint8Array.from({ length: 32 }, (_, index) => index), 0x46dd794e],
  ['32 bytes that count down', Uint8Array.from({ length: 32 }, (_, index) => 31 - index), 0x113fdb5c],
])('of %s', (_, bytes, checksum) => {
  expect(crc32c(bytes)).toBe(checksum)
})
