import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { repositoryRoot } from './repository-files.ts'

const permissive = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Python-2.0',
  'Unlicense',
  'Zlib',
]

// Not permissive by what package.json says, and why it may be here all the same; `*` stands for any ending.
const exceptions: Record<string, string> = {
  'axe-core': 'MPL-2.0: a tool of the tests, neither changed nor handed on',
  'lightningcss*': 'MPL-2.0: a tool of vite’s, neither changed nor handed on',
  '@fontsource-variable/*': 'OFL-1.1: typefaces, which may be handed on with anything but not sold alone',
  'truncate-utf8-bytes': 'WTFPL: permits everything',
  only: 'MIT, which its README says and its package.json does not; beside tests alone',
  'humanize-number': 'MIT, which its README says and its package.json does not; beside tests alone',
}

type Manifest = { name: string; version: string; license?: string | { type: string }; licenses?: { type: string }[] }

/** The SPDX expression that a package declares, in the new form or in one of the two old ones. */
function licenseOf({ license, licenses }: Manifest): string {
  if (typeof license === 'string') return license
  return license?.type ?? licenses?.map(({ type }) => type).join(' OR ') ?? 'none'
}

/** `A AND B` needs both, `A OR B` one of them. */
function isPermissive(expression: string): boolean {
  return expression
    .replace(/[()]/g, '')
    .split(/\s+OR\s+/)
    .some((choice) => choice.split(/\s+AND\s+/).every((name) => permissive.includes(name)))
}

function isExcepted(name: string): boolean {
  return Object.keys(exceptions).some((known) =>
    known.endsWith('*') ? name.startsWith(known.slice(0, -1)) : name === known,
  )
}

it('every dependency has a permissive license', () => {
  const manifests = globSync(
    ['node_modules/.pnpm/*/node_modules/*/package.json', 'node_modules/.pnpm/*/node_modules/@*/*/package.json'],
    { cwd: repositoryRoot },
  )
    .map((path) => JSON.parse(readFileSync(join(repositoryRoot, path), 'utf8')) as Manifest)
    .filter(({ name, version }) => name && version)
  expect(manifests.length).toBeGreaterThan(50)
  const others = manifests.filter((manifest) => !isPermissive(licenseOf(manifest)))
  const unknown = others.filter(({ name }) => !isExcepted(name))
  expect(unknown.map((manifest) => `${manifest.name}@${manifest.version}: ${licenseOf(manifest)}`)).toEqual([])
})

it.each([
  ['MIT', true],
  ['(MIT OR GPL-3.0)', true],
  ['MIT AND GPL-3.0', false],
  ['UNLICENSED', false],
  ['none', false],
])('%s: %s', (expression, expected) => {
  expect(isPermissive(expression)).toBe(expected)
})
