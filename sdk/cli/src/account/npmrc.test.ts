import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { addToNpmrc, removeFromNpmrc, setKey } from './npmrc.ts'

const folder = mkdtempSync(join(tmpdir(), 'agentgym-npmrc-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const server = 'https://gym.example'

describe('an .npmrc', () => {
  it('gets registry and token, and is restored', async () => {
    const path = join(folder, 'one')
    const before = '# mine\r\nregistry=https://registry.example/\r\n'
    writeFileSync(path, before, { mode: 0o644 })
    await addToNpmrc(path, { server, token: 'agt_1', scopes: ['ann', 'acme'] })
    expect(readFileSync(path, 'utf8')).toBe(
      `${before}@ann:registry=${server}/npm/\r\n@acme:registry=${server}/npm/\r\n//gym.example/npm/:_authToken=agt_1\r\n`,
    )
    expect(statSync(path).mode & 0o777).toBe(0o644)
    await removeFromNpmrc(path, { server, token: 'agt_1' })
    expect(readFileSync(path, 'utf8')).not.toContain('agt_1')
    expect(readFileSync(path, 'utf8')).toContain(before)
  })

  it("keeps another program's token", async () => {
    const path = join(folder, 'two')
    writeFileSync(path, '//gym.example/npm/:_authToken = "agt_2"\n')
    await removeFromNpmrc(path, { server, token: 'agt_1' })
    expect(readFileSync(path, 'utf8')).toContain('agt_2')
    await removeFromNpmrc(path, { server, token: 'agt_2' })
    expect(readFileSync(path, 'utf8')).toBe('')
  })

  it('stays a symbolic link', async () => {
    const target = join(folder, 'dotfile')
    const path = join(folder, 'three')
    writeFileSync(target, 'a=1\n')
    symlinkSync(target, path)
    await addToNpmrc(path, { server, token: 'agt_3', scopes: [] })
    expect(readFileSync(target, 'utf8')).toBe('a=1\n//gym.example/npm/:_authToken=agt_3\n')
  })

  it('is readable by its owner only if new', async () => {
    const path = join(folder, 'deep', 'four')
    await addToNpmrc(path, { server, token: 'agt_4', scopes: [] })
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })
})

describe('setKey', () => {
  const cases: [name: string, before: string, after: string][] = [
    ['replaces the last of two, which is the one that npm takes', 'k=1\nk=2\n', 'k=1\nk=new\n'],
    ['knows a key in quotes and with spaces', ' "k" = 1\nx=2\n', 'k=new\nx=2\n'],
    ['passes over comments', ';k=1\n#k=1\n', ';k=1\n#k=1\nk=new\n'],
    ['ends a last line that has no end', 'x=1', 'x=1\nk=new\n'],
    ['writes above the sections, where npm reads', 'x=1\n[section]\ny=2\n', 'x=1\nk=new\n[section]\ny=2\n'],
  ]
  it.each(cases)('%s', (_, before, after) => expect(setKey(before, 'k', 'new')).toBe(after))

  it('keeps all other lines, and is idempotent', () => {
    const line = fc.stringMatching(/^[ -~]{0,20}$/).filter((text) => !/^\s*["']?k["']?\s*(=|$)/.test(text))
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), (kept) => {
        const before = kept.map((one) => `${one}\n`).join('')
        const after = setKey(before, 'k', 'new')
        expect(after.split('\n').filter((one) => one !== 'k=new')).toEqual(before.split('\n'))
        expect(setKey(after, 'k', 'new')).toBe(after)
      }),
    )
  })
})
