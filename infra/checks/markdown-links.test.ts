import { existsSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { anchors, links, paths } from './markdown.ts'
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

it.each(pages)('%s: every link is valid', (page) => {
  const dead = links(readRepositoryFile(page)).flatMap(({ target, line }) => {
    const fault = deadLink(page, target)
    return fault === undefined ? [] : [`${page}:${line}: ${target}: ${fault}`]
  })
  expect(dead).toEqual([])
})

/** Is a path one of the repository, from its root or from any folder of it? */
function exists(path: string): boolean {
  const name = path.replace(/\/$/, '')
  return repositoryFiles.some((file) => `/${file}/`.includes(`/${name}/`))
}

/** Pages that tell what was: what they name may be gone. */
const history = /^(CHANGELOG\.md|infra\/decisions\/)/

it.each(pages.filter((page) => !history.test(page)))('%s: every path in backticks exists', (page) => {
  const gone = paths(readRepositoryFile(page)).filter(({ path }) => !exists(path))
  expect(gone.map(({ path, line }) => `${page}:${line}: ${path}`)).toEqual([])
})

describe('the check itself', () => {
  it('finds paths in backticks, but no patterns, commands or code', () => {
    const page = [
      '`a/b.ts`, `./c/d/` and `e.ts`',
      '`f/*.ts` `node g/h.ts` `@i/j`',
      '```sh',
      '`k/l.ts`',
      '```',
      '`m/n`',
    ].join('\n')
    expect(paths(page)).toEqual([
      { path: 'a/b.ts', line: 1 },
      { path: 'c/d/', line: 1 },
    ])
    expect(exists('infra/checks/markdown.ts')).toBe(true)
    expect(exists('checks/markdown.ts')).toBe(true)
    expect(exists('infra/checks/')).toBe(true)
    expect(exists('ecks/markdown.ts')).toBe(false)
    expect(exists('infra/no-such-file.ts')).toBe(false)
  })

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
