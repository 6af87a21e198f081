import { existsSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { anchors, links } from './markdown.ts'
import { readRepositoryFile, repositoryFiles, repositoryRoot, sourceFiles } from './repository-files.ts'

const pages = sourceFiles('.md')

/** Why a link of a page leads nowhere, or undefined. Addresses on the network are left alone: CI has none. */
function deadLink(page: string, target: string): string | undefined {
  if (/^(https?|mailto):/.test(target)) return undefined
  const [path, anchor] = decodeURIComponent(target).split('#')
  if (path.startsWith('/')) return 'absolute path'
  const file = path === '' ? page : normalize(join(dirname(page), path))
  if (!existsSync(join(repositoryRoot, file))) return 'no such file'
  const isFolder = statSync(join(repositoryRoot, file)).isDirectory()
  const committed = isFolder
    ? repositoryFiles.some((name) => name.startsWith(file.replace(/\/?$/, '/')))
    : repositoryFiles.includes(file)
  if (!committed) return 'not committed'
  if (anchor && file.endsWith('.md') && !anchors(readRepositoryFile(file)).has(anchor)) return 'no such heading'
  return undefined
}

it('there are pages to look at', () => expect(pages).toContain('README.md'))

it.each(pages)('%s: every link leads somewhere', (page) => {
  const dead = links(readRepositoryFile(page)).flatMap(({ target, line }) => {
    const fault = deadLink(page, target)
    return fault === undefined ? [] : [`${page}:${line}: ${target}: ${fault}`]
  })
  expect(dead).toEqual([])
})

describe('the check itself', () => {
  it('finds links, pictures and references, but none in code', () => {
    const page = [
      '[a](one.md) and ![b](two.png "title"), [![c](three.svg)](four.md)',
      '[ref]: five.md',
      '<img src="six.png">',
      '`[no](seven.md)`',
      '```sh',
      '[no](eight.md)',
      '```',
    ].join('\n')
    expect(
      links(page)
        .map(({ target }) => target)
        .sort(),
    ).toEqual(['five.md', 'four.md', 'one.md', 'six.png', 'three.svg', 'two.png'])
  })

  it('makes anchors as GitHub does', () => {
    const page = '# A step’s life\n## `check` and *test*\n## Twice\n## Twice\n```\n# no heading\n```\n'
    expect([...anchors(page)]).toEqual(['a-steps-life', 'check-and-test', 'twice', 'twice-1'])
  })

  it.each([
    ['docs/errors.md', '../sdk/contract/src/no-such-file.ts', 'no such file'],
    ['docs/errors.md', '#no-such-heading', 'no such heading'],
    ['docs/errors.md', '/etc/passwd', 'absolute path'],
    ['docs/errors.md', '../node_modules', 'not committed'],
    ['docs/errors.md', 'errors.md#wrong-use-or-input-exit-2', undefined],
    ['docs/errors.md', '../infra', undefined],
  ])('%s → %s: %s', (page, target, fault) => {
    expect(deadLink(page, target)).toBe(fault)
  })
})
