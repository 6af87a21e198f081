import fc from 'fast-check'
import pickManifest from 'npm-pick-manifest'
import semver from 'semver'
import { describe, expect, it } from 'vitest'
import { type Candidate, selectVersion } from './resolve-version.ts'

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

  it('matches npm’s choice from the packument, except for yanked versions', () => {
    const version = fc
      .tuple(fc.nat(2), fc.nat(2), fc.nat(2), fc.constantFrom('', '', '-rc.1', '-rc.2'))
      .map(([major, minor, patch, pre]) => `${major}.${minor}.${patch}${pre}`)
    const candidate = fc.record({
      version,
      deprecated: fc.constantFrom(null, 'old'),
      yanked: fc.constantFrom(false, false, true),
    })
    const part = fc.tuple(fc.constantFrom('^', '~', '>=', '<', '', 'v', '= '), version).map((parts) => parts.join(''))
    const wanted = fc.oneof(
      part,
      fc.tuple(part, part).map((parts) => parts.join(' || ')),
      fc.constantFrom('', '*', 'x', '1', '1.x', '0 - 1.1', 'latest', 'next', 'none'),
    )
    const packages = fc.record({
      all: fc.uniqueArray(candidate, { selector: (one) => one.version, minLength: 1, maxLength: 8 }),
      latest: fc.nat(20),
      next: fc.nat(20),
    })
    fc.assert(
      fc.property(packages, wanted, ({ all, latest, next }, text) => {
        const tagged = [
          ['latest', all[latest]],
          ['next', all[next]],
        ] as const
        const named = tagged.flatMap(([tag, one]) =>
          one === undefined || one.yanked ? [] : [[tag, one.version] as const],
        )
        const ours = selectVersion(all, new Map(named), text)?.version
        const theirs = npmTakes(all, Object.fromEntries(named), text)
        const yanked = all.find((one) => one.version === theirs)?.yanked === true
        if (!yanked || semver.valid(text, true)) expect(ours).toBe(theirs)
        else expect(all.find((one) => one.version === ours)).not.toMatchObject({ deprecated: null })
      }),
      { numRuns: 2_000 },
    )
  })

  it('a range never resolves to a yanked or non-matching version', () => {
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

/** npm's own choice; yanked versions are deprecated in the packument. */
function npmTakes(all: Candidate[], tags: Record<string, string>, wanted: string): string | undefined {
  const versions = all.map(({ version, deprecated, yanked }) => {
    const text = yanked ? 'yanked' : deprecated
    return [version, { name: 'maze', version, ...(text === null ? {} : { deprecated: text }) }]
  })
  try {
    return pickManifest({ name: 'maze', 'dist-tags': tags, versions: Object.fromEntries(versions) }, wanted).version
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ETARGET') return undefined
    throw error
  }
}
