import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { readPackage } from '@agentgym/agent/packages'
import { buildScenario } from '@agentgym/runtime'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { packScenario } from './pack-scenario.ts'

const root = mkdtempSync(join(tmpdir(), 'agentgym-pack-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const source = `import { box, defineScenario, discrete } from '@agentgym/scenario'
export default defineScenario({
  observation: box({ shape: [1] }), action: discrete({ n: 2 }), maxSteps: 5,
  reset: () => ({ at: 0 }), step: () => ({ reward: 1, terminated: false }), observe: () => [0],
})
`
const manifest = {
  name: '@acme/line',
  version: '1.0.0',
  license: 'MIT',
  files: ['src', '!src/**/*.test.ts'],
  agentgym: {
    kind: 'scenario',
    entry: 'src/index.ts',
    title: 'Line',
    summary: 'A line.',
    category: 'control',
    difficulty: 'beginner',
  },
}

let folder: string
let count = 0
beforeEach(() => {
  count += 1
  folder = join(root, String(count))
  write('package.json', JSON.stringify(manifest, null, 2))
  write('README.md', '# Line\n')
  write('LICENSE', 'MIT\n')
  write('src/index.ts', source)
})

function write(path: string, text: string): void {
  mkdirSync(join(folder, path, '..'), { recursive: true })
  writeFileSync(join(folder, path), text)
}

async function pack() {
  return packScenario(await buildScenario(folder))
}

describe('a packed scenario', () => {
  it('contains the files of npm pack, and the bundle', async () => {
    write('src/index.test.ts', 'a test')
    write('notes.txt', 'a note')
    write('.npmrc', 'a secret')
    write('.env', 'a secret')
    write('node_modules/left/index.js', 'a dependency')
    symlinkSync('/etc/passwd', join(folder, 'src', 'link.ts'))
    const { files } = await pack()
    const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json'], { cwd: folder })
    const npm = JSON.parse(stdout)[0].files.map(({ path }: { path: string }) => path)
    expect(files.map(({ path }) => path).sort()).toEqual([...npm, 'dist/scenario.js', 'dist/scenario.js.map'].sort())
  })

  it('is deterministic across places and times', async () => {
    const first = await pack()
    const { integrity } = first
    folder = join(root, 'elsewhere')
    write('src/index.ts', source)
    write('LICENSE', 'MIT\n')
    write('README.md', '# Line\n')
    write('package.json', JSON.stringify(manifest, null, 2))
    expect((await pack()).integrity).toBe(integrity)
  })

  it('omits dependencies that only the author has', async () => {
    const dependencies = { '@agentgym/scenario': 'workspace:*', near: 'file:../near', semver: '^7.0.0' }
    write('package.json', JSON.stringify({ ...manifest, dependencies, devDependencies: { near: 'link:../near' } }))
    const packed = await pack()
    expect(packed.bundledDependencies).toEqual(['@agentgym/scenario', 'near'])
    const files = await readPackage(packed.bytes)
    expect([...files.keys()].sort()).toEqual([
      'LICENSE',
      'README.md',
      'dist/scenario.js',
      'dist/scenario.js.map',
      'package.json',
    ])
    const published = JSON.parse(String(files.get('package.json')))
    expect(published).toEqual({ ...manifest, dependencies: { semver: '^7.0.0' } })
  })

  it.each([
    ['name_invalid', { name: 'line' }],
    ['package_marked_private', { private: true }],
    ['package_license_missing', { license: undefined }],
    [
      'package_summary_placeholder',
      { agentgym: { ...manifest.agentgym, summary: '[REPLACE: what the agent learns]' } },
    ],
    ['manifest_invalid', { agentgym: { ...manifest.agentgym, entry: 'dist/index.ts' } }],
  ])('is refused before it is sent: %s', async (code, change) => {
    write('dist/index.ts', source)
    write('package.json', JSON.stringify({ ...manifest, ...change }))
    await expect(pack()).rejects.toMatchObject({ code })
  })

  it('carries a map for errors, where it ships its sources', async () => {
    const { files } = manifest as { files?: string[] }
    write('package.json', JSON.stringify({ ...manifest, files: [...(files ?? []), 'src'] }))
    const packed = await pack()
    const map = (await readPackage(packed.bytes)).get('dist/scenario.js.map')
    const { sources, sourcesContent } = JSON.parse(String(map))
    expect(sourcesContent[sources.indexOf('../src/index.ts')]).toContain('defineScenario')
    expect(sourcesContent[sources.indexOf('agentgym:scenario')]).toBeNull()
    expect((await pack()).integrity).toBe(packed.integrity)
  })

  it('needs a README', async () => {
    rmSync(join(folder, 'README.md'))
    await expect(pack()).rejects.toMatchObject({ code: 'package_readme_missing' })
  })

  it('needs a README that is written', async () => {
    write('README.md', '# Line\n\n[REPLACE: what does the agent learn?]\n')
    await expect(pack()).rejects.toMatchObject({
      code: 'package_readme_placeholder',
      message: expect.stringMatching(
        /: README\.md line 3 is a placeholder: \[REPLACE: what does the agent learn\?\]\.$/,
      ),
      data: { line: 3 },
    })
  })
})
