import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tarballPath } from '../../core/http/package-path.ts'
import { findablePackageName, parsePackageName } from './package-name.ts'

describe('parsePackageName', () => {
  it.each(['@acme/maze', '@acme/2048', '@acme-labs/cart-pole_v1.2', '@t/s'])('takes %s', (name) => {
    expect(parsePackageName(name).full).toBe(name)
  })

  it.each([
    'maze',
    '@acme',
    '@acme/',
    '@/maze',
    '@acme/Maze',
    '@ACME/maze',
    '@acme/maze/x',
    '@acme/.maze',
    '@acme/maze-',
    '@acme/ma--ze',
    '@acme/ma ze',
    '@acme/m\u0430ze',
    '@acme/__proto__',
    '@acme/constructor',
    '@acme/node_modules',
    '@acme/%2e%2e',
    '@acme/..',
    '@agentgym/scenario',
    `@acme/${'a'.repeat(210)}`,
  ])('refuses %s', (name) => {
    expect(() => parsePackageName(name)).toThrowError(expect.objectContaining({ code: 'name_invalid' }))
  })

  it('gives similar names in a scope one canonical form', () => {
    const canonical = (name: string) => parsePackageName(name).canonical
    expect(canonical('@acme/cart-pole')).toBe(canonical('@acme/cart.p0le'))
    expect(canonical('@acme/maze1')).toBe(canonical('@acme/mazel'))
    expect(canonical('@acme/maze')).not.toBe(canonical('@acme2/maze'))
  })
})

it('finds a package in any casing, and nothing for invalid names', () => {
  expect(findablePackageName('@ACME/Maze')).toBe('@acme/maze')
  expect(findablePackageName('@acme/../maze')).toBeNull()
  fc.assert(fc.property(fc.string(), (text) => findablePackageName(text) === findablePackageName(text.toUpperCase())))
})

it('puts tarballs where npm expects them', () => {
  expect(tarballPath('@t/s', '1.0.0')).toBe('/npm/@t/s/-/s-1.0.0.tgz')
})
