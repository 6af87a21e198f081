import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeTarball } from '@agentgym/runtime/tarball'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findStored, storePackage } from './package-store.ts'

const home = mkdtempSync(join(tmpdir(), 'agentgym-store-'))
const before = process.env.AGENTGYM_HOME
beforeAll(() => {
  process.env.AGENTGYM_HOME = home
})
afterAll(() => {
  if (before === undefined) delete process.env.AGENTGYM_HOME
  else process.env.AGENTGYM_HOME = before
  rmSync(home, { recursive: true, force: true })
})

describe('the store', () => {
  const files = [
    { path: 'package.json', bytes: Buffer.from('{}') },
    { path: 'dist/scenario.js', bytes: Buffer.from('code') },
  ]

  it('keeps a package by its integrity, also when many put it there at once', async () => {
    const { bytes, integrity } = await writeTarball(files)
    expect(await findStored(integrity)).toBeNull()
    const folders = await Promise.all(Array.from({ length: 8 }, () => storePackage(bytes, integrity)))
    expect(new Set(folders).size).toBe(1)
    expect(await findStored(integrity)).toBe(folders[0])
    expect(readdirSync(join(home, 'packages'))).toHaveLength(1)
  })

  it('does not give out what somebody has changed, and mends it', async () => {
    const { bytes, integrity } = await writeTarball(files)
    const folder = await storePackage(bytes, integrity)
    appendFileSync(join(folder, 'dist', 'scenario.js'), ' changed')
    expect(await findStored(integrity)).toBeNull()
    expect(await storePackage(bytes, integrity)).toBe(folder)
    expect(readFileSync(join(folder, 'dist', 'scenario.js'), 'utf8')).toBe('code')
    expect(await findStored(integrity)).toBe(folder)
  })
})
