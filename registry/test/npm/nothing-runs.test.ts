// @module-tag full
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { archive, gzip } from '../../../testdata/tarballs/tar-writer.ts'
import { clientsIn, type Ran } from './npm-client.ts'
import { integrityOf, writeScenarioFolder } from './scenario-package.ts'
import { openTestRegistry, type TestRegistry } from './test-registry.ts'

// Installing a package with npm or pnpm fetches that package alone, and runs nothing of it.

let registry: TestRegistry
let folder: string
let evil: Server
let evilUrl: string
let marker: string
let asked: string[]
let count = 0
type Clients = Awaited<ReturnType<typeof clientsIn>>
let author: Clients
let stranger: Clients

beforeAll(async () => {
  registry = await openTestRegistry()
  folder = await mkdtemp(join(tmpdir(), 'agentgym-runs-'))
  marker = join(folder, 'ran')
  const manifest = { name: 'evil', version: '1.0.0', scripts: { postinstall: `echo ran > ${marker}` } }
  const tarball = gzip(archive([{ path: 'package/package.json', body: JSON.stringify(manifest) }]))
  evil = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.end(tarball)
  }).listen(0, '127.0.0.1')
  await once(evil, 'listening')
  evilUrl = `http://127.0.0.1:${(evil.address() as AddressInfo).port}/evil.tgz`
  const { token } = await registry.signUp('ada')
  author = await clientsIn(join(folder, 'home-ada'), { url: registry.url, token })
  stranger = await clientsIn(join(folder, 'home-stranger'), { url: registry.url, token: null })
})
beforeEach(async () => {
  asked = []
  await rm(marker, { force: true })
})
afterAll(async () => {
  evil.close()
  await registry.close()
  await rm(folder, { recursive: true, force: true })
})

async function project(): Promise<string> {
  const cwd = join(folder, `work-${count++}`)
  await mkdir(cwd, { recursive: true })
  await writeFile(join(cwd, 'package.json'), '{ "private": true }')
  return cwd
}

function succeeded(ran: Ran): string {
  expect(ran.status, ran.stderr + ran.stdout).toBe(0)
  return ran.stdout
}

async function packageIn(fields: Record<string, unknown>, files: Record<string, string> = {}): Promise<string> {
  const cwd = await project()
  const named = { ...fields, files: ['dist', 'src', ...Object.keys(files)] }
  await writeScenarioFolder(cwd, { name: '@ada/maze', version: `1.0.${count}`, fields: named })
  for (const [path, text] of Object.entries(files)) await writeFile(join(cwd, path), text)
  return cwd
}

/** Installs it with both clients several times, and returns the contents of node_modules. */
async function install(name: string): Promise<string[][]> {
  const found: string[][] = []
  for (const [client, add] of [
    ['npm', 'install'],
    ['pnpm', 'add'],
  ] as const) {
    const cwd = await project()
    succeeded(await stranger[client](cwd)(add, name))
    succeeded(await stranger[client](cwd)('install'))
    if (client === 'npm') succeeded(await stranger.npm(cwd)('ls', '--all'))
    if (client === 'npm') succeeded(await stranger.npm(cwd)('ci'))
    found.push((await readdir(join(cwd, 'node_modules'))).filter((entry) => !entry.startsWith('.')))
  }
  return found
}

describe('package contents', () => {
  it('dependencies and scripts of package.json are not installed', async () => {
    const cwd = await packageIn({
      dependencies: { 'nowhere-to-be-found': '^1.0.0' },
      peerDependencies: { 'not-there-either': '^1.0.0' },
      scripts: { test: `echo ran > ${marker}`, prepublishOnly: 'true' },
    })
    const version = JSON.parse(await readFile(join(cwd, 'package.json'), 'utf8')).version
    succeeded(await author.npm(cwd)('publish'))
    await registry.pass('@ada/maze', version)
    expect(await install(`@ada/maze@${version}`)).toEqual([['@ada'], ['@ada']])
    // Without its lock files, npm reads package.json of what is installed.
    const to = await project()
    succeeded(await stranger.npm(to)('install', `@ada/maze@${version}`))
    for (const lock of ['package-lock.json', 'node_modules/.package-lock.json']) await rm(join(to, lock))
    succeeded(await stranger.npm(to)('install'))
    succeeded(await stranger.npm(to)('ls', '--all'))
    expect(existsSync(marker)).toBe(false)
  })

  it('a file with a non-ASCII path keeps it, with both clients', async () => {
    const cwd = await packageIn({}, { 'é 日本.md': 'x' })
    const version = JSON.parse(await readFile(join(cwd, 'package.json'), 'utf8')).version
    succeeded(await author.npm(cwd)('publish'))
    await registry.pass('@ada/maze', version)
    for (const [client, add] of [
      ['npm', 'install'],
      ['pnpm', 'add'],
    ] as const) {
      const to = await project()
      succeeded(await stranger[client](to)(add, `@ada/maze@${version}`))
      expect(await readFile(join(to, 'node_modules/@ada/maze/é 日本.md'), 'utf8')).toBe('x')
    }
  })

  it('a lock file or settings of a client are refused, by name', async () => {
    const cwd = await packageIn({}, { 'npm-shrinkwrap.json': '{"lockfileVersion":3,"packages":{}}' })
    const ran = await author.npm(cwd)('publish')
    expect([ran.status, ran.stderr]).toEqual([1, expect.stringMatching(/npm-shrinkwrap\.json.*Omit it/)])
  })

  it('a shrinkwrap that an earlier server stored is not followed', async () => {
    const cwd = await packageIn({})
    const version = JSON.parse(await readFile(join(cwd, 'package.json'), 'utf8')).version
    succeeded(await author.npm(cwd)('publish'))
    await registry.pass('@ada/maze', version)
    await storeAsBefore(version, {
      name: '@ada/maze',
      version,
      _hasShrinkwrap: true,
      dependencies: { evil: evilUrl },
    })
    expect(await install(`@ada/maze@${version}`)).toEqual([['@ada'], ['@ada']])
    expect([asked, existsSync(marker)]).toEqual([[], false])
  })
})

/** Makes of a version what a server stored before lock files were refused: its own tarball, with a shrinkwrap. */
async function storeAsBefore(version: string, manifest: Record<string, unknown>): Promise<void> {
  const { database, objects } = registry.services
  const evilEntry = { version: '1.0.0', resolved: evilUrl, hasInstallScript: true }
  const lock = {
    lockfileVersion: 3,
    requires: true,
    packages: { '': manifest, 'node_modules/evil': evilEntry },
    dependencies: { evil: { version: evilUrl, resolved: evilUrl } },
  }
  const tarball = gzip(
    archive([
      { path: 'package/package.json', body: JSON.stringify(manifest) },
      { path: 'package/npm-shrinkwrap.json', body: JSON.stringify({ ...manifest, ...lock }) },
      { path: 'package/dist/scenario.js', body: 'module.exports = 1\n' },
    ]),
  )
  const key = await objects.put(tarball)
  const shasum = createHash('sha1').update(tarball).digest('hex')
  await database.query.transaction().execute(async (query) => {
    await sql`alter table versions disable trigger user`.execute(query)
    await sql`update versions set object_key = ${key}, integrity = ${integrityOf(tarball)}, shasum = ${shasum},
      size = ${tarball.length}, manifest = manifest || ${JSON.stringify(manifest)}::jsonb
      where version = ${version}`.execute(query)
    await sql`alter table versions enable trigger user`.execute(query)
  })
}

describe('audits (C01)', () => {
  it('succeed with npm and pnpm, and find nothing', async () => {
    const cwd = await packageIn({})
    const version = JSON.parse(await readFile(join(cwd, 'package.json'), 'utf8')).version
    succeeded(await author.npm(cwd)('publish'))
    await registry.pass('@ada/maze', version)
    for (const [client, add] of [
      ['npm', 'install'],
      ['pnpm', 'add'],
    ] as const) {
      const to = await project()
      const installed = await stranger[client](to)(add, `@ada/maze@${version}`)
      succeeded(installed)
      expect(installed.stderr).not.toMatch(/audit|advisor/i)
      expect(succeeded(await stranger[client](to)('audit'))).toMatch(
        /found 0 vulnerabilities|no known vulnerabilities/i,
      )
    }
  })
})
