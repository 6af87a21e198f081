import { archive, gzip, type RawEntry } from './tar-writer.ts'

export const goodName = '@t/maze'
export const goodVersion = '1.0.0'

export const goodManifest = {
  name: goodName,
  version: goodVersion,
  license: 'MIT',
  type: 'module',
  agentgym: {
    kind: 'scenario',
    entry: 'src/index.ts',
    title: 'Maze',
    summary: 'Find the way out of a maze.',
    category: 'navigation',
    difficulty: 'beginner',
    success: { return_mean: 0.9 },
    training: { algorithm: 'ppo', steps: 10_000 },
  },
}

/** Files of a package that passes every rule; `manifest` replaces fields of its package.json. */
export function goodEntries(manifest: Record<string, unknown> = {}): RawEntry[] {
  return [
    { path: 'package/package.json', body: JSON.stringify({ ...goodManifest, ...manifest }) },
    { path: 'package/README.md', body: '# Maze\n\nFind the way out of a maze.\n' },
    { path: 'package/dist/scenario.js', body: 'module.exports.default = {}\n' },
    { path: 'package/src/index.ts', body: 'export default {}\n' },
  ]
}

/** A tarball that passes; `manifest` replaces fields of its package.json, `more` are further files. */
export function goodTarball(manifest: Record<string, unknown> = {}, more: RawEntry[] = []): Buffer {
  return gzip(archive([...goodEntries(manifest), ...more]))
}
