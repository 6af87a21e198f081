// @module-tag full
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeReadme } from '@agentgym/testkit/command-line'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRegistry, type Person, type Registry } from './registry-people.ts'

type Packument = { versions: Record<string, { dist: { tarball: string } }> }

let registry: Registry
let author: Person
beforeAll(async () => {
  registry = await openRegistry({ AGENTGYM_HOST: '::1' })
  author = registry.person('ada')
})
afterAll(() => registry?.close())

// On machines where `localhost` is 127.0.0.1 only, that name does not reach this server.
describe('a server on ::1 (C11)', { timeout: 120_000 }, () => {
  it('prints an address that works, and its own worker reaches it', async () => {
    await author.join()
    expect((await author.run(['scenario', 'init', 'maze', '--yes'])).status).toBe(0)
    writeReadme(join(author.work, 'maze'))
    const path = join(author.work, 'maze', 'package.json')
    const manifest = JSON.parse(readFileSync(path, 'utf8'))
    writeFileSync(path, JSON.stringify({ ...manifest, name: '@ada/maze', license: 'MIT' }))
    const published = await author.run(['scenario', 'publish', 'maze', '--json'])
    expect(published).toMatchObject({ status: 0, lines: [{ name: '@ada/maze', state: 'published' }] })
    const packument = (await (await fetch(`${registry.server.url}/npm/@ada%2fmaze`)).json()) as Packument
    const { tarball } = Object.values(packument.versions)[0].dist
    expect(tarball).toMatch(`${registry.server.url}/npm/@ada/maze/-/`)
    expect((await fetch(tarball)).status).toBe(200)
    const { hostname } = new URL(registry.server.url)
    expect(['localhost', '[::1]']).toContain(hostname)
  })
})
