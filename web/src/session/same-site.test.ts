import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isOwnOrigin, localPath } from './same-site.ts'

describe('own origin', () => {
  const from = (headers: Record<string, string>, publicUrl = 'https://gym.example.com') =>
    isOwnOrigin(new Headers(headers), publicUrl)

  describe('a form of our own page', () => {
    it.each([
      [{}],
      [{ origin: 'https://gym.example.com' }],
      [{ origin: 'https://gym.example.com', 'sec-fetch-site': 'same-origin' }],
    ])('%j', (headers) => expect(from(headers)).toBe(true))

    it('also between local names', () => {
      expect(from({ origin: 'http://127.0.0.1:4477' }, 'http://localhost:4477')).toBe(true)
      expect(from({ origin: 'http://[::1]:4477' }, 'http://localhost:4477')).toBe(true)
    })

    // Each header that is there must be right: one that is does not make up for another.
    it.each([
      [{ origin: 'https://evil.example' }],
      [{ origin: 'null' }],
      [{ origin: '' }],
      [{ origin: 'http://gym.example.com' }],
      [{ origin: 'https://gym.example.com:8443' }],
      [{ origin: 'https://gym.example.com.evil.example' }],
      [{ origin: 'https://gym.example.com', 'sec-fetch-site': 'cross-site' }],
      [{ origin: 'https://gym.example.com', 'sec-fetch-site': 'same-site' }],
      [{ origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' }],
      [{ 'sec-fetch-site': 'none' }],
      [{ origin: 'http://localhost:4478' }],
    ])('not %j', (headers) => expect(from(headers)).toBe(false))

    it('a name similar to a local one is another host', () => {
      expect(from({ origin: 'http://localhost.evil.example:4477' }, 'http://localhost:4477')).toBe(false)
      expect(from({ origin: 'http://localhost:4478' }, 'http://localhost:4477')).toBe(false)
      expect(from({ origin: 'http://localhost:4477' }, 'https://gym.example.com')).toBe(false)
    })
  })
})

describe('local path', () => {
  describe('the redirect after a form', () => {
    it.each(['/', '/packages?q=a%20b&kind=agent', '/@acme', '/packages/@acme/maze#readme'])('%s is taken', (path) =>
      expect(localPath(path)).toBe(path),
    )

    it.each(
      [
        [
          '',
          null,
          undefined,
          'packages',
          'https://evil.example/',
          '//evil.example',
          '/\\evil.example',
          '\\\\evil.example',
        ],
        ['/\t/evil.example', '/\n/evil.example', ' //evil.example', '/a\\b', '/é', `/${'a'.repeat(601)}`],
      ].flat(),
    )('%j is not', (path) => expect(localPath(path)).toBe('/'))

    it('any input stays on this site', () => {
      const text = fc.string({
        unit: fc.constantFrom('/', '\\', ':', '@', '.', 'a', '%', '?', '\t', '\n', '\0', ' ', 'ü'),
      })
      fc.assert(
        fc.property(text, (path) => {
          const led = new URL(localPath(path), 'https://gym.example.com/packages')
          expect(led.origin).toBe('https://gym.example.com')
        }),
      )
    })
  })
})
