import { globSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { type PackedFile, writePublishedTarball } from '@agentgym/contract/tarball'
import type { ServeOptions } from '@agentgym/registry'

/** `@agentgym/scenario` of this installation, with types, as `serve` gives it to npm's clients. */
export const openScenarioLibrary: NonNullable<ServeOptions['library']> = async () => {
  const { writeScenarioLibrary } = await import('@agentgym/runtime')
  const folder = await mkdtemp(join(tmpdir(), 'agentgym-library-'))
  try {
    const written = join(folder, 'scenario')
    await writeScenarioLibrary(written)
    const paths = globSync('**/*', { cwd: written, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
    const files: PackedFile[] = []
    for (const path of paths) {
      files.push({ path: path.slice(written.length + 1).replaceAll(sep, '/'), bytes: await readFile(path) })
    }
    const manifest = JSON.parse(await readFile(join(written, 'package.json'), 'utf8'))
    return { manifest, tarball: (await writePublishedTarball(files, manifest)).bytes }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
