import fc from 'fast-check'
import { expect, it } from 'vitest'
import { clientNetwork } from './client-network.ts'

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
