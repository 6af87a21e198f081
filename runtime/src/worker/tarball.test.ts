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

const manifest = { name: 'package/package.json', content: '{}' }
const bundle = { name: 'package/dist/scenario.js', content: 'module.exports = {}' }

describe('unpackPackage', () => {
  it('writes the two files that playing a scenario needs, and nothing else', async () => {
    const others = [
      { name: 'package/README.md', content: '# hi' },
      { name: 'package/src/index.ts', content: 'export {}' },
      { name: '../outside.js', content: 'x' },
      { name: '/etc/agentgym-test', content: 'x' },
      { name: 'package/dist/../../../outside.js', content: 'x' },
      { name: 'other/package.json', content: '{"other":true}' },
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

  it.each(['symlink', 'link'] as const)('passes over a %s in place of a file', async (type) => {
    const link = { name: 'package/dist/scenario.js', type, linkname: '/etc/passwd' }
    await unpackPackage(await tarball([manifest, link]), folder, scenarioFiles)
    expect(readdirSync(folder)).toEqual(['package.json'])
  })

  it.each<[string, () => Promise<Uint8Array>, RegExp]>([
    ['a file that is there twice', () => tarball([manifest, bundle, bundle]), /twice/],
    ['a package.json of 2 MiB', () => tarball([{ ...manifest, content: Buffer.alloc(2 ** 21) }]), /larger than/],
    ['what is not gzip', async () => new Uint8Array(2_000), /incorrect header check/],
    ['a tarball that is cut off', async () => (await tarball([manifest, bundle])).subarray(0, 80), /unexpected end/i],
  ])('refuses %s', async (_, make, reason) => {
    await expect(unpackPackage(await make(), folder, scenarioFiles)).rejects.toMatchObject({
      code: 'integrity_mismatch',
      message: expect.stringMatching(reason),
    })
    expect(readdirSync(folder)).toEqual([])
  })

  it('stops at a bomb, of bytes or of entries', async () => {
    const limits = { unpackedBytes: 2 ** 20, entries: 100 }
    const zeros = await tarball([manifest, { name: 'package/zeros', content: Buffer.alloc(2 ** 21) }])
    await expect(unpackPackage(zeros, folder, scenarioFiles, limits)).rejects.toThrow(
      /unpacks to more than 1048576 bytes/,
    )
    const many = await tarball(Array.from({ length: 200 }, (_, index) => ({ name: `package/${index}` })))
    await expect(unpackPackage(many, folder, scenarioFiles, limits)).rejects.toThrow(/more than 100 entries/)
  })
})
