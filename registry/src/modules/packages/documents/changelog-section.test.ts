import { describe, expect, it } from 'vitest'
import { changelogSection } from './changelog-section.ts'

const changelog = `# Changelog

What changed since 1.2.0 is below.

## [Unreleased]

- Not yet.

## [1.2.0] - 2026-03-01

### Added

- A maze, see [#12].

\`\`\`md
## 1.1.0
- not this
\`\`\`

## v1.2.0-rc.1

- A candidate.

1.1.0 (2026-01-01)
------------------

* Under a line.

## @acme/maze@1.0.1
## 1.0.0

The first.

## 11.0.0

- Another one.

[#12]: https://example.org/12
[1.2.0]: https://example.org/compare
`

describe('the changelog section of a version', () => {
  const of = (version: string) => changelogSection(changelog, version)

  it('is the text below its heading, with link definitions', () => {
    expect(of('1.2.0')).toContain('- A maze, see [#12].')
    expect(of('1.2.0')).toContain('- not this')
    expect(of('1.2.0')).not.toContain('A candidate')
    expect(of('1.2.0')).toMatch(/\[#12\]: https:\/\/example\.org\/12\n/)
    expect(of('1.2.0-rc.1')).toMatch(/^- A candidate\.\n\n\[#12\]/)
    expect(of('1.1.0')).toMatch(/^\* Under a line\.\n\n\[#12\]/)
    expect(of('1.0.0')).toMatch(/^The first\.\n/)
    expect(of('11.0.0')).toMatch(/^- Another one\./)
  })

  it('is null if missing or empty', () => {
    for (const version of ['1.0.1', '1.2', '2.0.0', '1.0.0-rc.1', '0.0', '1.2.0-rc', '.*'])
      expect(of(version)).toBeNull()
    expect(changelogSection('', '1.0.0')).toBeNull()
    expect(changelogSection('## 1.0.0\n', '1.0.0')).toBeNull()
  })

  it('is truncated at the end of a line, quickly for long texts', () => {
    const line = `- ${'x'.repeat(98)}\n`
    const section = changelogSection(`## 1.0.0\r\n${line.repeat(5_000)}## 0.9.0\n`, '1.0.0') ?? ''
    expect(section.length).toBeLessThan(20_100)
    expect(section.endsWith(`${line}\n…`)).toBe(true)
    const hostile = `## 1.0.0\n${'#'.repeat(500_000)}\n${'`'.repeat(500_000)}\n${'[a]: '.repeat(100_000)}`
    expect((changelogSection(hostile, '1.0.0') ?? '').length).toBeLessThan(41_000)
  })
})
