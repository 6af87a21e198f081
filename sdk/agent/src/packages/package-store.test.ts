import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeTarball } from '@agentgym/contract/tarball'
import { afterAll, describe, expect, it } from 'vitest'
import { findStored, storePackage } from './package-store.ts'

const home = mkdtempSync(join(tmpdir(), 'agentgym-store-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

describe('the store', () => {
  const files = [
    { path: 'package.json', bytes: Buffer.from('{}') },
    { path: 'dist/scenario.js', bytes: Buffer.from('code') },
  ]

  it('stores a package by its integrity, also concurrently', async () => {
    const { bytes, integrity } = await writeTarball(files)
    expect(await findStored(integrity, home)).toBeNull()
    const folders = await Promise.all(Array.from({ length: 8 }, () => storePackage(bytes, integrity, home)))
    expect(new Set(folders).size).toBe(1)
    expect(await findStored(integrity, home)).toBe(folders[0])
    expect(readdirSync(join(home, 'packages'))).toHaveLength(1)
  })

  it('detects and repairs a changed package', async () => {
    const { bytes, integrity } = await writeTarball(files)
    const folder = await storePackage(bytes, integrity, home)
    appendFileSync(join(folder, 'dist', 'scenario.js'), ' changed')
    expect(await findStored(integrity, home)).toBeNull()
    expect(await storePackage(bytes, integrity, home)).toBe(folder)
    expect(readFileSync(join(folder, 'dist', 'scenario.js'), 'utf8')).toBe('code')
    expect(await findStored(integrity, home)).toBe(folder)
  })
})
