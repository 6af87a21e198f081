import { describe, expect, it } from 'vitest'
import { inUrl, listeningHost, ownAddress } from './own-address.ts'

describe('ownAddress (C11)', () => {
  it.each([
    ['127.0.0.1', ['127.0.0.1'], 'localhost'],
    ['127.0.0.1', ['::1', '127.0.0.1'], 'localhost'],
    ['127.0.0.1', ['::1'], '127.0.0.1'],
    ['::1', ['127.0.0.1'], '[::1]'],
    ['::1', ['::1', '127.0.0.1'], 'localhost'],
    ['0.0.0.0', ['127.0.0.1'], 'localhost'],
    ['0.0.0.0', ['::1'], '127.0.0.1'],
    ['::', ['127.0.0.1'], 'localhost'],
    ['::', ['::1'], 'localhost'],
    ['::', [], '127.0.0.1'],
    ['fd00::7', ['127.0.0.1'], '[fd00::7]'],
    ['gym.example.com', [], 'gym.example.com'],
  ])('listens on %s, localhost is %j: %s', async (host, localhost, shown) => {
    expect(await ownAddress(host, async () => localhost)).toBe(shown)
  })
})

describe('listeningHost', () => {
  it.each([
    ['[::1]', '::1'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['::', '::'],
    ['FD00::7', 'fd00::7'],
    ['fe80::1%eth0', 'fe80::1%eth0'],
    ['127.0.0.1', '127.0.0.1'],
    ['gym.example.com', 'gym.example.com'],
  ])('%s is %s', (given, host) => {
    expect(listeningHost(given)).toBe(host)
  })

  it('uses brackets in URLs', () => {
    expect([inUrl('::1'), inUrl('127.0.0.1')]).toEqual(['[::1]', '127.0.0.1'])
  })
})
