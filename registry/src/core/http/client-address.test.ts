import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clientAddress, clientNetwork } from './client-address.ts'

describe('client address', () => {
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

  it('client headers never change the address seen by trusted proxies', () => {
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
})

describe('client network', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::ffff:192.0.2.7', '0:0:0:0::/64'],
    ['unknown', 'unknown'],
  ])('%s counts as %s', (ip, network) => {
    expect(clientNetwork(ip)).toBe(network)
  })

  it('is the same for every address of a /64', () => {
    fc.assert(
      fc.property(fc.ipV6(), fc.ipV6(), (a, b) => {
        const full = (ip: string) => clientNetwork(ip).replace('::/64', '')
        expect(clientNetwork(`${full(a)}:1:2:3:4`)).toBe(clientNetwork(a))
        return clientNetwork(a) === clientNetwork(b) || full(a) !== full(b)
      }),
    )
  })
})
