import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { repositoryRoot } from './repository-files.ts'

type Finding = { name: string; line?: number }
type KnipReport = { issues: ({ file: string } & Record<string, Finding[] | string>)[] }

/** Everything that knip holds for dead, as `kind: file: name`: files, exports, types, dependencies, imports of nothing. */
function deadParts(root: string): string[] {
  const { stdout, stderr } = spawnSync('knip', ['--reporter', 'json', '--no-config-hints'], {
    cwd: root,
    encoding: 'utf8',
  })
  expect(stdout, stderr).toMatch(/^\{/)
  return (JSON.parse(stdout) as KnipReport).issues.flatMap(({ file, ...kinds }) =>
    Object.entries(kinds).flatMap(([kind, findings]) =>
      Array.isArray(findings) ? findings.map(({ name }) => `${kind}: ${file}: ${name}`) : [],
    ),
  )
}

it('there are no unused exports, files or dependencies', () => {
  expect(deadParts(repositoryRoot)).toEqual([])
})

it('detects violations', () => {
  const root = mkdtempSync(join(tmpdir(), 'dead-exports-'))
  try {
    mkdirSync(join(root, 'src'))
    const manifest = {
      name: 'fixture',
      version: '1.0.0',
      type: 'module',
      main: 'src/index.ts',
      dependencies: { unused: '1.0.0' },
    }
    writeFileSync(join(root, 'package.json'), JSON.stringify(manifest))
    writeFileSync(join(root, 'src/index.ts'), "import { used } from './used.ts'\nused()\n")
    writeFileSync(
      join(root, 'src/used.ts'),
      'export const used = () => {}\nexport const dead = 1\nexport type Dead = string\n',
    )
    writeFileSync(join(root, 'src/forgotten.ts'), 'export {}\n')
    expect(deadParts(root).sort()).toEqual([
      'dependencies: package.json: unused',
      'exports: src/used.ts: dead',
      'files: src/forgotten.ts: src/forgotten.ts',
      'types: src/used.ts: Dead',
    ])
  } finally {
    rmSync(root, { recursive: true })
  }
})
