import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { localPath } from './local-path.ts'

describe('where to go after a form', () => {
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

  it('whatever is sent, a browser stays on this site', () => {
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
