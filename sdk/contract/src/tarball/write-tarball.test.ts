import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { writePublishedTarball } from './published-files.ts'
import { collectTarballFiles, type TarballLimits } from './read-tarball-files.ts'
import { type PackedFile, writeTarball } from './write-tarball.ts'

const limits: TarballLimits = { tarballBytes: 2 ** 24, unpackedBytes: 2 ** 24, files: 100, ratio: 10_000 }

async function readBack(bytes: Uint8Array): Promise<PackedFile[]> {
  const files = await collectTarballFiles(bytes, limits, 'upload', () => limits.unpackedBytes)
  return [...files].map(([path, body]) => ({ path, bytes: body }))
}

const segment = fc.stringMatching(/^[a-zé日🐢][a-z0-9_é日🐢-]{0,40}$/u)
const path = fc
  .array(segment, { minLength: 1, maxLength: 5 })
  .map((segments) => segments.join('/'))
  .filter((text) => Buffer.byteLength(text) < 200)
const file = fc.record({ path, bytes: fc.uint8Array({ maxLength: 1_500 }) })
// A number in front keeps any of them from being the folder of another, or the name of a device.
const files = fc
  .array(file, { maxLength: 8 })
  .map((list) => list.map(({ path, bytes }, index) => ({ path: `${index}${path}`, bytes })))

describe('a written tarball', () => {
  it('round-trips its files in any order', async () => {
    await fc.assert(
      fc.asyncProperty(files, async (list) => {
        const all = [...list, { path: 'package.json', bytes: Buffer.from('{}') }]
        const { bytes, integrity } = await writeTarball(all)
        const read = await readBack(bytes)
        expect(read[0].path).toBe('package.json')
        const contents = (some: PackedFile[]) =>
          new Map(some.map((one) => [one.path, Buffer.from(one.bytes).toString('hex')]))
        expect(contents(read)).toEqual(contents(all))
        expect((await writeTarball([...all].reverse())).integrity).toBe(integrity)
        expect((await writeTarball(read)).integrity).toBe(integrity)
      }),
      { numRuns: 150 },
    )
  })

  it('is deterministic', async () => {
    const { bytes } = await writeTarball([{ path: 'b.txt', bytes: Buffer.from('b') }])
    expect([...bytes.subarray(0, 10)]).toEqual([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])
    const header = gunzipSync(bytes).subarray(0, 512).toString('latin1')
    expect(header.replace(/\0+/g, '|')).toBe(
      'package/b.txt|0000644|0000000|0000000|00000000001|03560116604|011611| 0|ustar|00|0000000|0000000|',
    )
    expect(gunzipSync(bytes)).toHaveLength(4 * 512)
  })
})

describe('package.json of a published tarball', () => {
  const publishedOf = async (manifest: Record<string, unknown>) => {
    const body = Buffer.from(JSON.stringify(manifest))
    const { bytes } = await writePublishedTarball([{ path: 'package.json', bytes: body }], manifest)
    return String((await readBack(bytes))[0].bytes)
  }

  it('is the author’s, byte for byte, if nothing must be removed', async () => {
    const manifest = { name: '@t/maze', version: '1.0.0', devDependencies: { vitest: '^5' }, exports: './x.js' }
    expect(await publishedOf(manifest)).toBe(JSON.stringify(manifest))
  })

  it('lists dependencies only where they are not installed, and no scripts', async () => {
    const published = await publishedOf({
      name: '@t/maze',
      scripts: { start: 'node .' },
      bin: './x.js',
      _resolved: 'https://evil.test/x.tgz',
      dependencies: { both: '^2', a: '^1' },
      optionalDependencies: { b: '^1' },
      peerDependencies: { both: '^1' },
      devDependencies: { both: '^0', c: '^1' },
      overrides: { a: '2' },
    })
    expect(JSON.parse(published)).toEqual({
      name: '@t/maze',
      devDependencies: { both: '^2', a: '^1', b: '^1', c: '^1' },
    })
  })
})
