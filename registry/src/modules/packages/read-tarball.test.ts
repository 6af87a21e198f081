import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { AgentGymError } from '@agentgym/contract'
import type { TarballLimits } from '@agentgym/contract/tarball'
import fc from 'fast-check'
import { extract } from 'tar-stream'
import { afterAll, describe, expect, it } from 'vitest'
import { badTarballs } from '../../../../testdata/tarballs/bad-tarballs.ts'
import { goodEntries, goodName, goodTarball, goodVersion } from '../../../../testdata/tarballs/good-package.ts'
import { archive, gzip, paxEntry, type RawEntry } from '../../../../testdata/tarballs/tar-writer.ts'
import { ModelChecker } from './model-checker.ts'
import { readTarball } from './read-tarball.ts'
import { vetManifest, vetModel } from './vet-manifest.ts'

const folder = join(import.meta.dirname, '../../../../testdata/tarballs')
const limits: TarballLimits = { tarballBytes: 2 ** 20, unpackedBytes: 4 * 2 ** 20, files: 100, ratio: 100 }

const models = new ModelChecker()
afterAll(() => models.close())

async function vet(bytes: Uint8Array) {
  const tarball = await readTarball(bytes, limits)
  const manifest = vetManifest(tarball, goodName, goodVersion)
  await vetModel(models, tarball, manifest)
  return { tarball, manifest }
}

async function codeOf(bytes: Uint8Array): Promise<string> {
  try {
    await vet(bytes)
    return 'accepted'
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    expect(error.message).toMatch(/^.{10,600}\.$/s)
    expect(error.hint ?? '-').toMatch(/\S/)
    return error.code
  }
}

describe('a good tarball', () => {
  it('returns the recorded facts', async () => {
    const { tarball, manifest } = await vet(goodTarball())
    expect(manifest).toMatchObject({ name: goodName, kind: 'scenario', title: 'Maze', algorithm: 'ppo' })
    expect(tarball.readme).toContain('# Maze')
    expect(tarball.files.map(({ path }) => path)).toEqual([
      'package.json',
      'README.md',
      'dist/scenario.js',
      'src/index.ts',
    ])
    expect(tarball.integrity).toMatch(/^sha512-[\w+/]{86}==$/)
    expect(tarball.shasum).toMatch(/^[0-9a-f]{40}$/)
    expect(tarball.bundleHash).toMatch(/^[0-9a-f]{64}$/)
  })

  it('may have folders, a pax path, a GNU header, padding, and a name in the gzip header', async () => {
    const tar = archive(
      [
        { path: 'package/', type: '5' },
        ...goodEntries(),
        { path: 'package/src/', type: '5' },
        paxEntry([
          ['mtime', '499162500.25'],
          ['size', '1'],
          ['path', `package/${'é'.repeat(60)}.md`],
        ]),
        { path: 'package/x.md', body: 'x' },
        { path: 'package/gnu.txt', body: 'y', magic: 'ustar  \0' },
      ],
      Buffer.alloc(10_240),
    )
    const plain = gzip(tar)
    const named = Buffer.concat([plain.subarray(0, 10), Buffer.from('maze.tar\0'), plain.subarray(10)])
    named[3] = 8
    expect((await vet(named)).tarball.files.map(({ path }) => path)).toContain(`${'é'.repeat(60)}.md`)
  })

  it('may contain `deprecated`, which is ignored', async () => {
    expect(
      await codeOf(goodTarball({ deprecated: 'no', scripts: { test: 'vitest' }, devDependencies: { x: '^1' } })),
    ).toBe('accepted')
  })
})

describe('testdata/tarballs', () => {
  it('matches the output of make.ts', () => {
    const files = readdirSync(folder).filter((file) => file.endsWith('.tgz'))
    expect(files.sort()).toEqual([...badTarballs.map(({ name }) => `${name}.tgz`), 'good.tgz'].sort())
    for (const { name, bytes } of badTarballs)
      expect(readFileSync(join(folder, `${name}.tgz`)).equals(bytes), name).toBe(true)
  })

  it.each(badTarballs.map(({ name, code, why }) => [name, code, why]))('%s: %s (%s)', async (name, code) => {
    expect(await codeOf(readFileSync(join(folder, `${name}.tgz`)))).toBe(code)
  })
})

describe('limits', () => {
  it('bytes, unpacked bytes, ratio, files', async () => {
    const noise = Buffer.alloc(2 ** 20 + 1, 7)
    expect(await codeOf(noise)).toBe('tarball_too_large')
    expect(await codeOf(goodTarball({}, [{ path: 'package/zeros', body: Buffer.alloc(3 * 2 ** 20) }]))).toBe(
      'tarball_ratio_too_high',
    )
    const words = Buffer.from(Array.from({ length: 900_000 }, (_, index) => `${(index * 7919) % 99_991} `).join(''))
    expect(await codeOf(goodTarball({}, [{ path: 'package/words', body: words.subarray(0, 4_200_000) }]))).not.toBe(
      'accepted',
    )
    const many: RawEntry[] = Array.from({ length: 100 }, (_, index) => ({ path: `package/${index}` }))
    expect(await codeOf(goodTarball({}, many))).toBe('tarball_too_many_files')
  })

  it('limits unpacked bytes before reading them', async () => {
    const tarball = goodTarball({}, [{ path: 'package/zeros', body: Buffer.alloc(3 * 2 ** 20) }])
    const small = { ...limits, unpackedBytes: 2 ** 20 }
    await expect(readTarball(tarball, small)).rejects.toMatchObject({ code: 'tarball_unpacked_too_large' })
  })

  it('never holds an unpacked bomb in memory', async () => {
    const mebibyte = Buffer.alloc(2 ** 20)
    const unpackedBytes = 250 * 2 ** 20
    const bomb = gzip(
      archive([{ path: 'package/bomb', size: '10000000000\0' }, ...Array.from({ length: 256 }, () => mebibyte)]),
    )
    const before = process.memoryUsage().arrayBuffers
    let peak = 0
    const timer = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().arrayBuffers - before)
    }, 1)
    await expect(readTarball(bomb, { ...limits, ratio: 10_000, unpackedBytes })).rejects.toMatchObject({
      code: 'tarball_unpacked_too_large',
    })
    clearInterval(timer)
    expect(peak).toBeLessThan(unpackedBytes / 2)
  })
})

describe('any change of a good tarball', () => {
  const good = goodTarball()
  const tar = archive(goodEntries())

  it('of the compressed bytes is refused, or changes nothing', async () => {
    const change = fc.record({ at: fc.nat(good.length - 1), byte: fc.nat(255), cut: fc.nat(good.length) })
    await fc.assert(
      fc.asyncProperty(change, fc.boolean(), async ({ at, byte, cut }, cuts) => {
        const bytes = Buffer.from(cuts ? good.subarray(0, cut) : good)
        if (at < bytes.length) bytes[at] = byte
        const code = await codeOf(bytes)
        if (code === 'accepted') expect(await contentsOf(bytes)).toEqual(await contentsOf(good))
      }),
      { numRuns: 300 },
    )
  })

  it('of the archive is refused, or read the same by tar-stream', async () => {
    const change = fc.array(
      fc.record({ at: fc.nat(tar.length - 1), byte: fc.constantFrom(0, 32, 46, 47, 48, 49, 53, 92, 120, 255) }),
      {
        minLength: 1,
        maxLength: 4,
      },
    )
    await fc.assert(
      fc.asyncProperty(change, fc.boolean(), async (bytes, mend) => {
        const changed = Buffer.from(tar)
        for (const { at, byte } of bytes) changed[at] = byte
        if (mend) mendChecksums(changed)
        const packed = gzip(changed)
        if ((await codeOf(packed)) !== 'accepted') return
        const { tarball } = await vet(packed)
        const reference = await contentsOf(packed)
        expect(tarball.files).toEqual(reference.map(({ path, body }) => ({ path, size: body.length })))
        expect(tarball.readme).toBe(reference.find(({ path }) => path === 'README.md')?.body.toString())
      }),
      { numRuns: 500 },
    )
  })

  it('of the order of its blocks is refused, or read the same by tar-stream', async () => {
    const pax = paxEntry([['path', 'package/from-pax.md']])
    const rich = archive([
      pax,
      { path: 'package/x.md', body: 'x'.repeat(700) },
      ...goodEntries(),
      { path: 'package/y' },
    ])
    const blocks = Array.from({ length: rich.length / 512 }, (_, index) =>
      rich.subarray(index * 512, (index + 1) * 512),
    )
    const step = fc.record({
      do: fc.constantFrom('drop', 'double', 'swap', 'zero'),
      at: fc.nat(blocks.length - 1),
      to: fc.nat(blocks.length - 1),
    })
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        const changed = [...blocks]
        for (const { do: what, ...positions } of steps) {
          const at = positions.at % changed.length
          const to = positions.to % changed.length
          if (what === 'drop' && changed.length > 1) changed.splice(at, 1)
          else if (what === 'double') changed.splice(to, 0, changed[at])
          else if (what === 'zero') changed[at] = Buffer.alloc(512)
          else [changed[at], changed[to]] = [changed[to], changed[at]]
        }
        const packed = gzip(Buffer.concat(changed))
        const tarball = await readTarball(packed, limits).catch((error: unknown) => {
          if (!(error instanceof AgentGymError)) throw error
        })
        if (tarball === undefined) return
        accepted++
        const reference = await contentsOf(packed)
        expect(tarball.files).toEqual(reference.map(({ path, body }) => ({ path, size: body.length })))
      }),
      { numRuns: 500 },
    )
    expect(accepted).toBeGreaterThan(0)
  })

  it('random bytes are refused without side effects', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2_048 }), fc.boolean(), async (bytes, packed) => {
        expect(await codeOf(packed ? gzip(Buffer.from(bytes)) : bytes)).not.toBe('accepted')
      }),
      { numRuns: 300 },
    )
  })
})

/** Makes every header's checksum right again, so that changes behind it are reached. */
function mendChecksums(tar: Buffer): void {
  for (let at = 0; at + 512 <= tar.length; at += 512) {
    if (tar.toString('latin1', at + 257, at + 262) !== 'ustar') continue
    tar.write('        ', at + 148, 'latin1')
    const sum = tar.subarray(at, at + 512).reduce((total, byte) => total + byte, 0)
    tar.write(`${sum.toString(8).padStart(6, '0')}\0 `, at + 148, 'latin1')
  }
}

/** The regular files, as another reader of tar sees them. */
async function contentsOf(bytes: Uint8Array): Promise<{ path: string; body: Buffer }[]> {
  const reader = extract()
  reader.end(gunzipSync(bytes))
  const files: { path: string; body: Buffer }[] = []
  for await (const entry of reader) {
    const body: Buffer[] = []
    for await (const piece of entry as AsyncIterable<Buffer>) body.push(piece)
    if (entry.header.type === 'file')
      files.push({ path: entry.header.name.replace(/^package\//, ''), body: Buffer.concat(body) })
  }
  return files
}
