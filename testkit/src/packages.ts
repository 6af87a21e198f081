import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { writeBuild } from '@agentgym/runtime'

export type PackedScenario = { name: string; version: string; tarball: Uint8Array }

/** A built-in scenario under another name: built, with `change` made to its bundle, and packed as npm packs. */
export async function packScenario(
  plugin: string,
  {
    name,
    version = '1.0.0',
    change = (source: string) => source,
  }: { name: string; version?: string; change?: (source: string) => string },
): Promise<PackedScenario> {
  const root = mkdtempSync(path.join(tmpdir(), 'agentgym-pack-'))
  try {
    const folder = path.join(root, 'package')
    cpSync(path.join(import.meta.dirname, '../../plugins', plugin), folder, { recursive: true })
    const manifestFile = path.join(folder, 'package.json')
    const { dependencies: _, ...manifest } = JSON.parse(readFileSync(manifestFile, 'utf8'))
    writeFileSync(manifestFile, JSON.stringify({ ...manifest, name, version }))
    const { path: bundle } = await writeBuild(folder)
    writeFileSync(bundle, change(readFileSync(bundle, 'utf8')))
    rmSync(path.join(folder, 'node_modules'), { recursive: true, force: true })
    execFileSync('tar', ['--owner=0', '--group=0', '-czf', 'package.tgz', ...listed], { cwd: root })
    return { name, version, tarball: readFileSync(path.join(root, 'package.tgz')) }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

const listed = ['package.json', 'README.md', 'LICENSE', 'dist/scenario.js', 'src/index.ts'].map(
  (file) => `package/${file}`,
)
