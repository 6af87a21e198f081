import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { type Header, pack } from 'tar-stream'
import { afterAll, describe, expect, it } from 'vitest'
import { unpackPackage } from './unpack-package.ts'

const root = mkdtempSync(join(tmpdir(), 'agentgym-unpack-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
let count = 0

async function unpack(entries: [header: Partial<Header> & { name: string }, text?: string][]): Promise<string> {
  const archive = pack()
  const bytes = buffer(archive)
  for (const [header, text] of entries) archive.entry(header, text ?? '')
  archive.finalize()
  const folder = join(root, String(count++), 'inner')
  mkdirSync(folder, { recursive: true })
  await unpackPackage(gzipSync(await bytes), folder)
  return folder
}

const manifest: [{ name: string }, string] = [{ name: 'package/package.json' }, '{}']

describe('unpacking', () => {
  it('writes the known files and no other, wherever their paths lead', async () => {
    const folder = await unpack([
      manifest,
      [{ name: 'package/dist/scenario.js' }, 'code'],
      [{ name: 'package/dist/other.js' }, 'x'],
      [{ name: 'package/src/index.ts' }, 'x'],
      [{ name: 'package/../../outside' }, 'x'],
      [{ name: '/tmp/absolute' }, 'x'],
      [{ name: 'package/README.md', type: 'symlink', linkname: '/etc/passwd' }],
      [{ name: 'package/LICENSE', type: 'link', linkname: 'package/package.json' }],
      [{ name: 'package/model.onnx', type: 'directory' }],
    ])
    expect(readdirSync(folder, { recursive: true }).sort()).toEqual(['dist', 'dist/scenario.js', 'package.json'])
    expect(readFileSync(join(folder, 'dist', 'scenario.js'), 'utf8')).toBe('code')
    expect(readdirSync(join(folder, '..'))).toEqual(['inner'])
  })

  it('refuses a path that is there twice', async () => {
    await expect(unpack([manifest, manifest])).rejects.toMatchObject({ code: 'integrity_mismatch' })
  })

  it('refuses what is no package', async () => {
    await expect(unpack([[{ name: 'package/README.md' }, 'x']])).rejects.toMatchObject({ code: 'integrity_mismatch' })
    const folder = join(root, 'none')
    mkdirSync(folder)
    for (const bytes of [Buffer.from('no gzip'), gzipSync(Buffer.alloc(5000, 7)), Buffer.alloc(0)]) {
      await expect(unpackPackage(bytes, folder)).rejects.toMatchObject({ code: 'integrity_mismatch' })
    }
    expect(existsSync(join(folder, 'package.json'))).toBe(false)
  })
})
