import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalPath, parseNpmPath } from './npm-path.ts'

const segment = fc.stringMatching(/^[a-z][a-z0-9._-]{0,12}$/)

describe('the forms of a scoped name', () => {
  it('name one package with %2f, %2F and a slash, in every kind of request', () => {
    fc.assert(
      fc.property(segment, segment, segment, (scope, base, last) => {
        const name = `@${scope}/${base}`
        const tails = {
          '': { kind: 'package', name },
          [`/${last}`]: { kind: 'version', name, version: last },
          [`/-/${last}`]: { kind: 'tarball', name, file: last },
          [`/-rev/${last}`]: { kind: 'revision', name, file: null },
          [`/-/${last}/-rev/1-a`]: { kind: 'revision', name, file: last },
        }
        for (const [tail, target] of Object.entries(tails))
          for (const form of [name, `@${scope}%2f${base}`, `@${scope}%2F${base}`, `%40${scope}%2f${base}`])
            expect(parseNpmPath(`/${form}${tail}`)).toEqual(target)
        for (const form of [name, `@${scope}%2f${base}`, `@${scope}%2F${base}`]) {
          expect(parseNpmPath(`/-/package/${form}/dist-tags`)).toEqual({ kind: 'tags', name, tag: null })
          expect(parseNpmPath(`/-/package/${form}/dist-tags/${last}`)).toEqual({ kind: 'tags', name, tag: last })
        }
      }),
    )
  })

  it('match nothing when doubly encoded', () => {
    for (const path of ['/@t%252fs', '/@t%252Fs/1.0.0', '/%2540t%2fs', '/-/package/@t%252fs/dist-tags', '/@t%25/s'])
      expect(parseNpmPath(path), path).toBeUndefined()
  })

  it('round-trip through Verdaccio’s form', () => {
    for (const target of [
      { kind: 'package', name: '@t/s' },
      { kind: 'version', name: '@t/s', version: '1.0.0-rc.1+build' },
      { kind: 'tarball', name: '@t/s', file: 's-1.0.0.tgz' },
    ] as const)
      expect(parseNpmPath(canonicalPath(target))).toEqual(target)
  })
})

it('distinguishes requests about the registry and about packages', () => {
  expect(parseNpmPath('/-/ping')).toEqual({ kind: 'service', path: '-/ping' })
  expect(parseNpmPath('/-/v1/search')).toEqual({ kind: 'service', path: '-/v1/search' })
  expect(parseNpmPath('/-/package/@t%2fs/access')).toEqual({ kind: 'service', path: '-/package/@t/s/access' })
  expect(parseNpmPath('/lodash')).toEqual({ kind: 'package', name: 'lodash' })
})

it('returns undefined for paths that no client sends', () => {
  for (const path of [
    '',
    '/',
    '/@t/s/',
    '//@t/s',
    '/@t//s',
    '/@t/s/..',
    '/@t/s/-/..%2f..%2fetc',
    '/@t/s/-/a%5cb',
    '/@t/s/-/a%00b',
    '/@t/s/1.0.0/x',
    '/@t/s/-/a/b',
    '/@t%2fs%2fx',
    '/a%2fb',
    '/%',
    '/%ff',
  ])
    expect(parseNpmPath(path), path).toBeUndefined()
})

it('returns a target or undefined for any input', () => {
  fc.assert(
    fc.property(fc.oneof(fc.webPath(), fc.string()), (path) => {
      const target = parseNpmPath(path)
      if (target === undefined) return
      for (const value of Object.values(target)) expect(String(value)).not.toMatch(/%|\\|(^|\/)\.\.?(\/|$)/)
    }),
  )
})
