import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { readPackage as readAsCommand, readTarball as readAsWorker } from '@agentgym/agent/packages'
import { AgentGymError } from '@agentgym/contract'
import { collectTarballFiles, type TarballLimits } from '@agentgym/contract/tarball'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readTarball } from '../../registry/src/modules/packages/read-tarball.ts'
import { rewriteTarball } from '../../registry/src/modules/packages/rewrite-tarball.ts'
import { badTarballs } from '../../testdata/tarballs/bad-tarballs.ts'
import { goodEntries, goodTarball } from '../../testdata/tarballs/good-package.ts'
import { archive, paxEntry, type RawEntry, rawEntry } from '../../testdata/tarballs/tar-writer.ts'

// Four readers unpack a package: the registry, a worker, the command, and npm by its library `tar`, here in the version
// that npm bundles. Whatever of these the registry accepts, all four have to see the same files with the same bytes.

type TarEntry = NodeJS.ReadableStream & { type: string; path: string }
type Tar = {
  x(options: { file?: string; cwd: string; strip: number; onwarn(code: string): void }): NodeJS.WritableStream
  Parser: new (options: { onReadEntry(entry: TarEntry): void }) => NodeJS.WritableStream
}
const require = createRequire(import.meta.url)
const tar: Tar = require('tar')

const limits: TarballLimits = { tarballBytes: 2 ** 20, unpackedBytes: 2 ** 22, files: 100, ratio: 1000 }
type Files = Record<string, string>

let root: string
let count = 0
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'agentgym-readers-'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

function asText(files: Map<string, Buffer>): Files {
  return Object.fromEntries(
    [...files].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, b]) => [path, b.toString('hex')]),
  )
}

/** Unpacks into a folder as npm does, and reads that. */
async function readAsNpm(bytes: Uint8Array): Promise<{ files: Files; warnings: string[] }> {
  const cwd = join(root, String(count++))
  mkdirSync(cwd)
  const warnings: string[] = []
  try {
    const unpack = tar.x({ cwd, strip: 1, onwarn: (code) => warnings.push(code) })
    await ended(unpack, 'close', bytes)
    const files = new Map<string, Buffer>()
    for (const entry of readdirSync(cwd, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      if (entry.isFile()) files.set(relative(cwd, path), readFileSync(path))
      else if (!entry.isDirectory()) warnings.push(`${path} is no file`)
    }
    return { files: asText(files), warnings }
  } finally {
    rmSync(cwd, { recursive: true })
  }
}

/** What npm's library sees in an upload, before the registry has written it again. */
async function parseAsNpm(bytes: Uint8Array): Promise<Files> {
  const files = new Map<string, Buffer>()
  const onReadEntry = (entry: TarEntry) => {
    const pieces: Buffer[] = []
    entry.on('data', (piece) => pieces.push(piece as Buffer))
    entry.on('end', () => {
      if (/File$/.test(entry.type)) files.set(entry.path.replace(/^[^/]+\//, ''), Buffer.concat(pieces))
    })
  }
  await ended(new tar.Parser({ onReadEntry }), 'end', bytes)
  return asText(files)
}

function ended(stream: NodeJS.WritableStream, event: 'close' | 'end', bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.on('error', reject)
    stream.on(event, resolve)
    stream.end(bytes)
  })
}

/** The registry's own reading, and what it would serve; undefined if it refuses the upload. */
async function publish(upload: Uint8Array): Promise<{ files: Files; served: Uint8Array } | undefined> {
  try {
    const read = await readTarball(upload, limits)
    const files = asText(await collectTarballFiles(upload, limits, 'upload', () => limits.unpackedBytes))
    return { files, served: (await rewriteTarball(upload, limits, read)).bytes }
  } catch (error) {
    if (error instanceof AgentGymError) return undefined
    throw error
  }
}

/** Checks the promise above for one upload; returns whether the registry accepts it. */
async function holds(upload: Uint8Array): Promise<boolean> {
  const published = await publish(upload)
  if (published === undefined) return false
  const { files: uploaded, served } = published
  expect(await parseAsNpm(upload)).toEqual(uploaded)
  const all = () => limits.unpackedBytes
  const files = asText(await collectTarballFiles(served, limits, 'upload', all))
  // The one file that the registry may change.
  expect({ ...files, 'package.json': uploaded['package.json'] }).toEqual(uploaded)
  expect(asText(await readAsWorker(served, all))).toEqual(files)
  expect(files).toMatchObject(asText(await readAsCommand(served)))
  expect(await readAsNpm(served)).toEqual({ files, warnings: [] })
  return true
}

const good = archive(goodEntries())
const long = `package/${'d'.repeat(90)}/${'e'.repeat(60)}/file.txt`

describe('four readers of one tarball', () => {
  it('agree on every form of path written by the registry', async () => {
    const paths = [
      'package/é.md',
      'package/src/with space.ts',
      'package/日本/🐢.txt',
      long,
      `package/${'x'.repeat(200)}`,
      `package/${'é'.repeat(100)}/a`,
      `package/${'a'.repeat(92)}`,
      `package/${'a'.repeat(93)}`,
      `package/${'p'.repeat(147)}/${'n'.repeat(50)}`,
      `package/${'p'.repeat(122)}/${'n'.repeat(90)}`,
      'package/.gitignore',
    ]
    const entries = paths.flatMap((path, index) => {
      const body = `${index}`.repeat(index * 100)
      return [paxEntry([['path', path]]), rawEntry({ path: 'package/fallback', body })]
    })
    const upload = gzipSync(archive([...goodEntries(), ...entries]))
    expect(Object.keys((await publish(upload))?.files ?? {})).toHaveLength(paths.length + goodEntries().length)
    expect(await holds(upload)).toBe(true)
  })

  it('receive only output of one writer', async () => {
    for (const { name, bytes } of badTarballs) {
      const published = await publish(bytes)
      if (published !== undefined) expect(await holds(bytes), name).toBe(true)
    }
    const upload = goodTarball()
    expect(await holds(upload)).toBe(true)
    const published = await publish(upload)
    expect(published && (await readAsNpm(published.served)).files).toEqual(published?.files)
  })

  it('agree on archives of any headers', { timeout: 300_000 }, async () => {
    const text = fc.constantFrom(
      'package/a',
      'package/b/c.js',
      'package/é',
      long,
      '1',
      '',
      'x\n24 path=package/evil.js',
      'x\0y',
    )
    const record = fc.tuple(fc.constantFrom('path', 'path', 'size', 'mtime', 'comment', 'linkpath'), text)
    const pax = fc.array(record, { minLength: 1, maxLength: 3 }).map((records) => paxEntry(records))
    const path = fc.constantFrom('package/a', 'package/b/c.js', 'package/d/', 'package/é', 'package/package.json', 'p')
    const entry = fc
      .record(
        {
          path,
          body: fc.constantFrom('', 'x', 'y'.repeat(700), rawEntry({ path: 'package/evil.js', body: 'x' })),
          type: fc.constantFrom('0', '0', '0', '5', 'x', '\0', '7', 'g', '1'),
          size: fc.constantFrom(undefined, '0000001\0', '00000001001\0', ' 1\0', '1 \0\0'),
          magic: fc.constantFrom(undefined, undefined, 'ustar  \0'),
          mode: fc.constantFrom(undefined, undefined, '\x80\0\0\0\0\0\0\x01', '\x81', '  644 \0', 'rwx'),
          prefix: fc.constantFrom(undefined, undefined, 'package', `package/${'p'.repeat(140)}`, 'package/x\n'),
        },
        { requiredKeys: ['path'] },
      )
      .map((raw) => rawEntry(raw as RawEntry))
    const upload = fc.array(fc.oneof(entry, entry, pax), { maxLength: 5 })
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(upload, fc.boolean(), async (entries, first) => {
        const all = first ? [...entries, ...goodEntries()] : [...goodEntries(), ...entries]
        if (await holds(gzipSync(archive(all)))) accepted++
      }),
      { numRuns: 600 },
    )
    expect(accepted).toBeGreaterThan(20)
  })

  it('agree on changed headers with corrected checksums, and on changed gzip bytes', { timeout: 300_000 }, async () => {
    const rich = archive([
      paxEntry([['path', 'package/from-pax.md']]),
      { path: 'package/x.md', body: 'x'.repeat(700) },
      ...goodEntries(),
    ])
    const headers = Array.from({ length: rich.length / 512 }, (_, block) => block * 512)
    const byte = fc.oneof(fc.constantFrom(0, 10, 32, 46, 47, 48, 49, 53, 55, 61, 120, 128, 129, 255), fc.nat(255))
    const change = fc.record({ block: fc.constantFrom(...headers), at: fc.nat(511), byte })
    const changes = fc.array(change, { minLength: 1, maxLength: 3 })
    const outer = fc.array(fc.record({ at: fc.nat(11), byte }), { maxLength: 1 })
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(changes, outer, async (inner, around) => {
        const changed = Buffer.from(rich)
        for (const { block, at, byte: value } of inner) changed[block + at] = value
        mendChecksums(changed)
        const upload = gzipSync(changed)
        for (const { at, byte: value } of around) upload[at] = value
        if (await holds(upload)) accepted++
      }),
      { numRuns: 600 },
    )
    expect(accepted).toBeGreaterThan(20)
    expect(await holds(gzipSync(good))).toBe(true)
  })
})

/** Makes every header's checksum right again, so that changes behind it are reached. */
function mendChecksums(archived: Buffer): void {
  for (let at = 0; at + 512 <= archived.length; at += 512) {
    if (archived.toString('latin1', at + 257, at + 262) !== 'ustar') continue
    archived.write('        ', at + 148, 'latin1')
    const sum = archived.subarray(at, at + 512).reduce((total, value) => total + value, 0)
    archived.write(`${sum.toString(8).padStart(6, '0')}\0 `, at + 148, 'latin1')
  }
}
