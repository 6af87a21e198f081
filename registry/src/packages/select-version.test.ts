import fc from 'fast-check'
import semver from 'semver'
import { describe, expect, it } from 'vitest'
import { type Candidate, selectVersion } from './select-version.ts'

const candidates: Candidate[] = [
  { version: '1.0.0', deprecated: null, yanked: false },
  { version: '1.1.0', deprecated: 'use 1.0', yanked: false },
  { version: '1.2.0', deprecated: null, yanked: true },
  { version: '2.0.0', deprecated: null, yanked: false },
  { version: '2.1.0-rc.1', deprecated: null, yanked: false },
  { version: '3.0.0', deprecated: 'broken', yanked: false },
]
const tags = new Map([
  ['latest', '2.0.0'],
  ['rc', '2.1.0-rc.1'],
])

describe('selectVersion', () => {
  it.each([
    ['1.2.0', '1.2.0'],
    ['v1.0.0', '1.0.0'],
    ['9.9.9', undefined],
    ['latest', '2.0.0'],
    ['rc', '2.1.0-rc.1'],
    ['beta', undefined],
    ['', '2.0.0'],
    ['*', '2.0.0'],
    ['^1', '1.0.0'],
    ['1.1', '1.1.0'],
    ['1.2.x', undefined],
    ['>=1', '2.0.0'],
    ['^2.1.0-rc.0', '2.1.0-rc.1'],
    ['>2.0.0', '3.0.0'],
    ['1.0.0 || 3', '1.0.0'],
    ['constructor', undefined],
    ['__proto__', undefined],
  ])('%j is %s', (wanted, version) => {
    expect(selectVersion(candidates, tags, wanted)?.version).toBe(version)
  })

  it('a range never gives a yanked version, nor one that it does not hold', () => {
    const version = fc
      .tuple(fc.nat(2), fc.nat(2), fc.nat(2), fc.constantFrom('', '-rc.1'))
      .map(([a, b, c, pre]) => `${a}.${b}.${c}${pre}`)
    const candidate = fc.record({ version, deprecated: fc.constantFrom(null, 'x'), yanked: fc.boolean() })
    const range = fc.tuple(fc.constantFrom('^', '~', '>=', '<', ''), version).map(([operator, text]) => operator + text)
    fc.assert(
      fc.property(
        fc.uniqueArray(candidate, { selector: ({ version }) => version }),
        range,
        fc.nat(20),
        (all, wanted, pick) => {
          const latest = all[pick]
          const chosen = selectVersion(all, latest ? new Map([['latest', latest.version]]) : new Map(), wanted)
          if (chosen === undefined || semver.valid(wanted) !== null) return
          expect(chosen.yanked).toBe(false)
          expect(semver.satisfies(chosen.version, wanted)).toBe(true)
        },
      ),
    )
  })
})
