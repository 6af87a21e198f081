// @module-tag full

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@agentgym/testkit/ports'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Client, clientsIn } from './npm-client.ts'
import { startProxy } from './reverse-proxy.ts'
import { integrityOf, writeScenarioFolder } from './scenario-package.ts'
import { startRegistry } from './start-registry.ts'
import { openTestRegistry, type TestRegistry } from './test-registry.ts'

let registry: TestRegistry
let folder: string
let count = 0

beforeAll(async () => {
  registry = await openTestRegistry()
  folder = await mkdtemp(join(tmpdir(), 'agentgym-npm-'))
})
afterAll(async () => {
  await registry.close()
  await rm(folder, { recursive: true, force: true })
})

const freshFolder = () => join(folder, `work-${count++}`)

async function author(username: string) {
  const { token } = await registry.signUp(username)
  return clientsIn(join(folder, `home-${username}`), { url: registry.url, token })
}

/** Publishes with npm from a folder, as an author does; the version is then being checked. */
async function publish(npm: (cwd: string) => Client, name: string, version: string, ...options: string[]) {
  const cwd = freshFolder()
  await writeScenarioFolder(cwd, { name, version, readme: `# ${name}, try ${count}` })
  return npm(cwd)('publish', ...options)
}

const failed = (ran: { status: number | null; stderr: string }) => {
  expect(ran.status).not.toBe(0)
  return ran.stderr
}
const succeeded = (ran: { status: number | null; stdout: string; stderr: string }) => {
  expect(ran.status, ran.stderr + ran.stdout).toBe(0)
  return ran.stdout
}

describe('an author with npm', () => {
  it('publishes; others can install it only after the checks', async () => {
    const { npm } = await author('ada')
    const stranger = await clientsIn(join(folder, 'home-stranger'), { url: registry.url, token: null })
    const published = await publish(npm, '@ada/maze', '1.0.0')
    expect(succeeded(published)).toContain('+ @ada/maze@1.0.0')
    expect(published.stderr).toMatch(/@ada\/maze@1\.0\.0 is being checked/)
    expect(failed(await stranger.npm(freshFolder())('install', '@ada/maze'))).toMatch(/E404/)
    await registry.pass('@ada/maze', '1.0.0')

    const cwd = freshFolder()
    succeeded(await stranger.npm(cwd)('install', '@ada/maze'))
    const lock = JSON.parse(await readFile(join(cwd, 'package-lock.json'), 'utf8'))
    const { integrity } = lock.packages['node_modules/@ada/maze']
    expect(integrity).toBe(await registry.recordedIntegrity('@ada/maze', '1.0.0'))
    expect(await readFile(join(cwd, 'node_modules/@ada/maze/dist/scenario.js'), 'utf8')).toContain('1.0.0')
    await rm(join(cwd, 'node_modules'), { recursive: true })
    succeeded(await stranger.npm(cwd)('ci'))
  })

  it('sees errors that npm prints', async () => {
    const { npm } = await author('bea')
    succeeded(await publish(npm, '@bea/maze', '1.0.0'))
    await registry.pass('@bea/maze', '1.0.0')
    // npm 9 knows this status and has words of its own.
    expect(failed(await publish(npm, '@bea/maze', '1.0.0', '--force'))).toMatch(
      /is published already.* Increase the version|Cannot publish over existing version/,
    )
    expect(failed(await publish(npm, '@nobody/maze', '1.0.0'))).toMatch(
      /Account "nobody" does not exist.* Publish under @bea/,
    )
    expect(failed(await publish(npm, '@bea/Other', '1.0.0'))).toMatch(/lower.case/i)
  })

  it('views, tags and deprecates', async () => {
    const { npm } = await author('cyd')
    const run = npm(freshFolder())
    for (const version of ['1.0.0', '1.1.0']) {
      succeeded(await publish(npm, '@cyd/maze', version))
      await registry.pass('@cyd/maze', version)
    }
    expect(JSON.parse(succeeded(await run('view', '@cyd/maze', 'versions', '--json')))).toEqual(['1.0.0', '1.1.0'])
    expect(succeeded(await run('dist-tag', 'ls', '@cyd/maze')).trim()).toBe('latest: 1.1.0')
    succeeded(await run('dist-tag', 'add', '@cyd/maze@1.0.0', 'stable'))
    expect(succeeded(await run('dist-tag', 'ls', '@cyd/maze'))).toContain('stable: 1.0.0')
    succeeded(await run('dist-tag', 'rm', '@cyd/maze', 'stable'))
    expect(succeeded(await run('dist-tag', 'ls', '@cyd/maze'))).not.toContain('stable')

    succeeded(await run('deprecate', '@cyd/maze@1.0.0', 'walls were missing'))
    expect(succeeded(await run('view', '@cyd/maze@1.0.0', 'deprecated')).trim()).toBe('walls were missing')
    expect(succeeded(await run('view', '@cyd/maze@1.1.0', 'deprecated')).trim()).toBe('')
    succeeded(await run('deprecate', '@cyd/maze@1.0.0', ''))
    expect(succeeded(await run('view', '@cyd/maze@1.0.0', 'deprecated')).trim()).toBe('')
  })

  it('cannot unpublish, and sees the alternative', async () => {
    const { npm } = await author('dan')
    const run = npm(freshFolder())
    for (const version of ['1.0.0', '1.1.0']) {
      succeeded(await publish(npm, '@dan/maze', version))
      await registry.pass('@dan/maze', version)
    }
    for (const what of ['@dan/maze@1.0.0', '@dan/maze'])
      expect(failed(await run('unpublish', what, '--force')), what).toMatch(/agentgym yank/)
    expect(JSON.parse(succeeded(await run('view', '@dan/maze', 'versions', '--json')))).toEqual(['1.0.0', '1.1.0'])
  })

  it('runs npm whoami', async () => {
    const { npm } = await author('eve')
    const run = npm(freshFolder())
    expect(succeeded(await run('whoami')).trim()).toBe('eve')
    succeeded(await run('ping'))
    const stranger = await clientsIn(join(folder, 'home-wrong'), { url: registry.url, token: `agt_${'x'.repeat(27)}` })
    expect(failed(await stranger.npm(freshFolder())('whoami'))).toMatch(/The token is unknown\. Run `agentgym login`/)
  })

  it('logs in with `npm login` through a page in the browser, and out', async () => {
    const { accountId } = await registry.signUp('kim')
    const { npm } = await clientsIn(join(folder, 'home-kim'), { url: registry.url, token: null })
    const run = npm(freshFolder())
    const login = run('login', '--auth-type=web')
    await registry.approveLogin({ accountId, username: 'kim' })
    succeeded(await login)
    expect(succeeded(await run('whoami')).trim()).toBe('kim')
    succeeded(await run('logout'))
    expect(failed(await run('whoami'))).toMatch(/ENEEDAUTH|E401/)
  })
})

describe('an author with pnpm', () => {
  it('publishes, and another installs with the same integrity from the lockfile', async () => {
    const { pnpm } = await author('fay')
    const cwd = freshFolder()
    await writeScenarioFolder(cwd, { name: '@fay/maze', version: '1.0.0' })
    succeeded(await pnpm(cwd)('publish', '--no-git-checks'))
    await registry.pass('@fay/maze', '1.0.0')
    const stranger = await clientsIn(join(folder, 'home-pnpm'), { url: registry.url, token: null })
    const project = freshFolder()
    succeeded(await stranger.pnpm(project)('add', '@fay/maze@^1.0.0'))
    expect(await readFile(join(project, 'pnpm-lock.yaml'), 'utf8')).toContain(
      await registry.recordedIntegrity('@fay/maze', '1.0.0'),
    )
    await rm(join(project, 'node_modules'), { recursive: true })
    succeeded(await stranger.pnpm(project)('install', '--frozen-lockfile'))
    expect(await readFile(join(project, 'node_modules/@fay/maze/dist/scenario.js'), 'utf8')).toContain('1.0.0')
  })

  it('views, tags, deprecates, searches, and cannot unpublish', async () => {
    const { npm, pnpm } = await author('lea')
    const run = pnpm(freshFolder())
    for (const version of ['1.0.0', '1.1.0']) {
      succeeded(await publish(npm, '@lea/maze', version))
      await registry.pass('@lea/maze', version)
    }
    expect(succeeded(await run('view', '@lea/maze', 'version')).trim()).toBe('1.1.0')
    succeeded(await run('dist-tag', 'add', '@lea/maze@1.0.0', 'stable'))
    expect(succeeded(await run('dist-tag', 'ls', '@lea/maze'))).toContain('stable: 1.0.0')
    succeeded(await run('dist-tag', 'rm', '@lea/maze', 'stable'))
    succeeded(await run('deprecate', '@lea/maze@1.0.0', 'walls were missing'))
    expect(succeeded(await run('view', '@lea/maze@1.0.0', 'deprecated')).trim()).toBe('walls were missing')
    succeeded(await run('undeprecate', '@lea/maze@1.0.0'))
    expect(succeeded(await run('view', '@lea/maze@1.0.0', 'deprecated')).trim()).toBe('')
    expect(failed(await run('unpublish', '@lea/maze@1.0.0', '--force'))).toMatch(/agentgym yank/)
    expect(succeeded(await run('whoami')).trim()).toBe('lea')
    succeeded(await run('ping'))
    expect(succeeded(await run('search', 'lea'))).toContain('@lea/maze')
  })

  it('cannot publish a workspace dependency', async () => {
    const { npm, pnpm } = await author('gus')
    const cwd = freshFolder()
    await writeScenarioFolder(cwd, {
      name: '@gus/maze',
      version: '1.0.0',
      fields: { dependencies: { '@gus/walls': 'workspace:*' } },
    })
    expect(failed(await npm(cwd)('publish'))).toMatch(/workspace:/)
    expect(failed(await pnpm(cwd)('publish', '--no-git-checks'))).toMatch(/@gus\/walls/)
  })
})

describe('behind a proxy that adds a prefix (B25)', () => {
  it.each([true, false])('that decodes the slash: %s', async (decodesSlash) => {
    const port = await freePort()
    const prefix = '/gym'
    const behind = await startRegistry({ ...registry.options, publicUrl: `http://127.0.0.1:${port}${prefix}` })
    const proxy = await startProxy(() => behind.url, { port, prefix, decodesSlash })
    const username = decodesSlash ? 'hal' : 'ida'
    const { token } = await registry.signUp(username)
    const { npm, pnpm } = await clientsIn(join(folder, `home-${username}`), { url: proxy.url, token })
    try {
      const name = `@${username}/maze`
      succeeded(await publish(npm, name, '1.0.0'))
      await registry.pass(name, '1.0.0')
      const run = npm(freshFolder())
      expect(succeeded(await run('view', name, 'version')).trim()).toBe('1.0.0')
      succeeded(await run('dist-tag', 'add', `${name}@1.0.0`, 'stable'))
      succeeded(await run('install', name))
      const project = freshFolder()
      succeeded(await pnpm(project)('add', name))
      expect(proxy.paths.some((path) => /%2f/i.test(path))).toBe(true)
      expect(proxy.paths.filter((path) => path.endsWith('.tgz')).every((path) => path.startsWith('/gym/npm/@'))).toBe(
        true,
      )
    } finally {
      proxy.close()
      await behind.stop()
    }
  })
})

it('npm records the stored integrity', async () => {
  const { npm } = await author('joe')
  succeeded(await publish(npm, '@joe/maze', '1.0.0'))
  await registry.pass('@joe/maze', '1.0.0')
  const tarball = await fetch(`${registry.url}/npm/@joe/maze/-/maze-1.0.0.tgz`)
  const bytes = new Uint8Array(await tarball.arrayBuffer())
  expect(integrityOf(bytes)).toBe(await registry.recordedIntegrity('@joe/maze', '1.0.0'))
})
