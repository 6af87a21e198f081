import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { type Header, pack } from 'tar-stream'
import { describe, expect, it } from 'vitest'
import { readPackage } from './read-package.ts'

async function tarball(entries: [header: Partial<Header> & { name: string }, text?: string][]): Promise<Buffer> {
  const archive = pack()
  const bytes = buffer(archive)
  for (const [header, text] of entries) archive.entry(header, text ?? '')
  archive.finalize()
  return gzipSync(await bytes)
}

const manifest: [{ name: string }, string] = [{ name: 'package/package.json' }, '{}']

describe('reading a package', () => {
  it('reads only known files', async () => {
    const files = await readPackage(
      await tarball([
        manifest,
        [{ name: 'package/dist/scenario.js' }, 'code'],
        [{ name: 'package/dist/other.js' }, 'x'],
        [{ name: 'package/src/index.ts' }, 'x'],
        [{ name: 'package/ReadMe.md' }, '# Hi'],
        [{ name: 'package/learning-curve.SVG' }, 'x'],
      ]),
    )
    expect([...files.keys()]).toEqual(['package.json', 'dist/scenario.js', 'ReadMe.md'])
    expect(files.get('dist/scenario.js')?.toString()).toBe('code')
  })

  it.each<[string, Partial<Header> & { name: string }]>([
    ['a way out', { name: 'package/../../outside' }],
    ['a way around', { name: 'package/dist/../../package.json' }],
    ['an absolute path', { name: '/tmp/absolute' }],
    ['a symbolic link', { name: 'package/README.md', type: 'symlink', linkname: '/etc/passwd' }],
    ['a hard link', { name: 'package/LICENSE', type: 'link', linkname: 'package/package.json' }],
    ['another casing of a file that runs', { name: 'package/Dist/Scenario.js' }],
    ['another casing of a model', { name: 'package/Model.ONNX' }],
  ])('refuses a package with %s', async (_, header) => {
    await expect(readPackage(await tarball([manifest, [header]]))).rejects.toMatchObject({ code: 'integrity_mismatch' })
  })

  it('refuses a folder with a size, for which tar-stream waits forever', async () => {
    const bytes = readFileSync(join(import.meta.dirname, '../../../../testdata/tarballs/tar-folder-with-size.tgz'))
    await expect(readPackage(bytes)).rejects.toMatchObject({ code: 'integrity_mismatch' })
  })

  it('refuses a duplicate path', async () => {
    await expect(readPackage(await tarball([manifest, manifest]))).rejects.toMatchObject({ code: 'integrity_mismatch' })
  })

  it('refuses invalid packages', async () => {
    const noManifest = await tarball([[{ name: 'package/README.md' }, 'x']])
    for (const bytes of [noManifest, Buffer.from('no gzip'), gzipSync(Buffer.alloc(5000, 7)), Buffer.alloc(0)]) {
      await expect(readPackage(bytes)).rejects.toMatchObject({ code: 'integrity_mismatch' })
    }
  })
})
