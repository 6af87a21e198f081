import fc from 'fast-check'
import { expect, it } from 'vitest'
import { clientAddress } from './client-address.ts'

it.each([
  ['127.0.0.1', undefined, 0, '127.0.0.1'],
  ['::ffff:192.0.2.7', undefined, 0, '192.0.2.7'],
  ['192.0.2.1', '203.0.113.5', 0, '192.0.2.1'],
  ['192.0.2.1', '203.0.113.5', 1, '203.0.113.5'],
  ['192.0.2.1', '198.51.100.9, 203.0.113.5', 1, '203.0.113.5'],
  ['192.0.2.1', '198.51.100.9, 203.0.113.5', 2, '198.51.100.9'],
  ['192.0.2.1', '203.0.113.5', 3, '203.0.113.5'],
  ['192.0.2.1', undefined, 1, '192.0.2.1'],
])('%s with X-Forwarded-For %s and %i trusted proxies is %s', (socket, forwarded, proxies, address) => {
  expect(clientAddress(socket, forwarded, proxies)).toBe(address)
})

it('what a client claims never changes what the trusted proxies saw', () => {
  const address = fc.ipV4()
  const property = fc.property(
    fc.string(),
    fc.array(address, { minLength: 1, maxLength: 4 }),
    address,
    (claim, seen, socket) => {
      const honest = clientAddress(socket, seen.join(', '), seen.length)
      expect(honest).toBe(seen[0])
      expect(clientAddress(socket, `${claim}, ${seen.join(', ')}`, seen.length)).toBe(honest)
    },
  )
  fc.assert(property)
})
