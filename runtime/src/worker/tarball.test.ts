import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { type Header, pack } from 'tar-stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { agentFiles, scenarioFiles, unpackPackage } from './tarball.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'agentgym-unpack-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

type Entry = Partial<Header> & { name: string; content?: string | Buffer }

async function tarball(entries: Entry[]): Promise<Uint8Array> {
  const archive = pack()
  const whole = buffer(archive)
  for (const { content = '', ...header } of entries) archive.entry(header, content)
  archive.finalize()
  return gzipSync(await whole)
}

const bad = path.join(import.meta.dirname, '../../../testdata/tarballs')

const manifest = { name: 'package/package.json', content: '{}' }
const bundle = { name: 'package/dist/scenario.js', content: 'module.exports = {}' }
const linked = { name: 'package/dist/scenario.js', linkname: '/etc/passwd' }

describe('unpackPackage', () => {
  it('writes the two files that playing a scenario needs, and nothing else', async () => {
    const others = [
      { name: 'package/README.md', content: '# hi' },
      { name: 'package/src/index.ts', content: 'export {}' },
    ]
    await unpackPackage(await tarball([manifest, ...others, bundle]), folder, scenarioFiles)
    expect(readdirSync(folder, { recursive: true }).sort()).toEqual(['dist', 'dist/scenario.js', 'package.json'])
    expect(readFileSync(path.join(folder, 'dist/scenario.js'), 'utf8')).toBe(bundle.content)
    expect(existsSync(path.join(folder, '../outside.js'))).toBe(false)
  })

  it('writes the three files of an agent', async () => {
    const files = ['package.json', 'agent.json', 'model.onnx', 'README.md', 'dist/scenario.js']
    const packed = await tarball(files.map((file) => ({ name: `package/${file}`, content: file })))
    await unpackPackage(packed, folder, agentFiles)
    expect(readdirSync(folder, { recursive: true }).sort()).toEqual(['agent.json', 'model.onnx', 'package.json'])
  })

  it('reads what earlier servers stored: harmless pax keys, and large owners in base 256', async () => {
    const named = { ...bundle, pax: { comment: 'by a mirror', 'SCHILY.dev': '1', atime: '1.5' }, uid: 2 ** 24 }
    await unpackPackage(await tarball([manifest, named]), folder, scenarioFiles)
    expect(readdirSync(folder, { recursive: true }).sort()).toEqual(['dist', 'dist/scenario.js', 'package.json'])
  })

  it.each<[string, () => Promise<Uint8Array>, RegExp]>([
    ['a file that is there twice', () => tarball([manifest, bundle, bundle]), /twice/],
    [
      'a package.json of 2 MiB',
      () => tarball([{ ...manifest, content: Buffer.alloc(2 ** 21) }]),
      /package\.json has 2097152 bytes/,
    ],
    ['what is not gzip', async () => new Uint8Array(2_000), /not a gzip file/],
    ['a tarball that is cut off', async () => (await tarball([manifest, bundle])).subarray(0, 80), /truncated/],
    ['a symbolic link', () => tarball([manifest, { ...linked, type: 'symlink' }]), /is a link/],
    ['a hard link', () => tarball([manifest, { ...linked, type: 'link' }]), /is a link/],
    ['a path outside', () => tarball([manifest, bundle, { name: '../outside.js' }]), /segment/],
    ['an absolute path', () => tarball([manifest, bundle, { name: '/etc/agentgym-test' }]), /is absolute/],
    ['a way out', () => tarball([manifest, bundle, { name: 'package/dist/../../../outside.js' }]), /segment/],
    ['another folder', () => tarball([manifest, bundle, { name: 'other/package.json' }]), /is not in "package/],
    ['other casing', () => tarball([manifest, { ...bundle, name: 'package/Dist/Scenario.js' }]), /ignore case/],
    ['a folder with a size', async () => readFileSync(path.join(bad, 'tar-folder-with-size.tgz')), /has a size/],
    ['a newline in a pax value', async () => readFileSync(path.join(bad, 'tar-pax-newline.tgz')), /pax value/],
  ])('refuses %s', async (_, make, reason) => {
    await expect(unpackPackage(await make(), folder, scenarioFiles)).rejects.toMatchObject({
      code: 'integrity_mismatch',
      message: expect.stringMatching(reason),
    })
    expect(readdirSync(folder)).toEqual([])
  })

  it('stops at a bomb, of bytes or of entries', async () => {
    const limits = { unpackedBytes: 2 ** 20, files: 100 }
    const zeros = await tarball([manifest, { name: 'package/zeros', content: Buffer.alloc(2 ** 21) }])
    await expect(unpackPackage(zeros, folder, scenarioFiles, limits)).rejects.toThrow(/the limit is 1048576 bytes/)
    const many = await tarball(Array.from({ length: 200 }, (_, index) => ({ name: `package/${index}` })))
    await expect(unpackPackage(many, folder, scenarioFiles, limits)).rejects.toThrow(/more than 100 files/)
  })

  it('stops at its deadline', async () => {
    const packed = await tarball([manifest, bundle])
    await expect(unpackPackage(packed, folder, scenarioFiles, { deadlineMs: -1 })).rejects.toMatchObject({
      code: 'integrity_mismatch',
      message: expect.stringContaining('took longer'),
    })
  })
})
