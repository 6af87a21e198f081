// @module-tag full
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient, publishPackage } from '@agentgym/client'
import { evaluationSchema, packageListSchema, resultEventSchema } from '@agentgym/contract'
import { writeBuild } from '@agentgym/runtime'
import { type CliResult, runCli, startServerProcess as startServer, writeReadme } from '@agentgym/testkit/command-line'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packScenario } from '../src/packages/pack-scenario.ts'
import { startChangingProxy } from './changing-proxy.ts'
import { openRegistry, type Person, type Registry } from './registry-people.ts'

let registry: Registry
let author: Person
let builder: Person
let scenario: string
beforeAll(async () => {
  registry = await openRegistry()
  author = registry.person('ann')
  builder = registry.person('bob')
  scenario = join(author.work, 'puck')
  await author.join()
  await builder.join()
}, 180_000)
afterAll(() => registry?.close())

function setVersion(version: string): void {
  const path = join(scenario, 'package.json')
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), version }, null, 2))
}

async function publish(version: string, ...words: string[]): Promise<CliResult> {
  setVersion(version)
  return author.run(['scenario', 'publish', 'puck', '--json', ...words])
}

describe('from one account to the other', () => {
  it('publish refuses invalid packages before sending anything', async () => {
    await author.run(['scenario', 'init', 'puck', '--yes'])
    writeReadme(join(author.work, 'puck'))
    const { status, lines } = await author.run(['scenario', 'publish', 'puck', '--dry-run', '--json'])
    expect(status).toBe(2)
    expect(lines).toMatchObject([{ error: { code: 'name_invalid' } }])
    rmSync(scenario, { recursive: true })
    await author.run(['scenario', 'init', 'puck', '--yes', '--name', '@ann/puck'])
    writeReadme(join(author.work, 'puck'))
  })

  it('a dry run shows exactly what would be sent, and sends nothing', async () => {
    const first = await author.run(['scenario', 'publish', 'puck', '--dry-run', '--json'])
    expect(first.lines[0]).toMatchObject({ dry_run: true, name: '@ann/puck', version: '0.1.0', visibility: 'public' })
    const { files, integrity } = first.lines[0] as { files: { path: string; bytes: number }[]; integrity: string }
    expect(files.map(({ path }) => path)).toEqual([
      'package.json',
      'README.md',
      'dist/scenario.js',
      'src/index.ts',
      'dist/scenario.js.map',
    ])
    expect(existsSync(join(scenario, 'dist'))).toBe(false)
    const none = await author.run(['versions', '@ann/puck', '--json'])
    expect(none.lines).toMatchObject([{ error: { code: 'package_not_found' } }])
    // Packed once more: byte by byte the same.
    const human = await author.run(['scenario', 'publish', 'puck', '--dry-run'])
    expect(human.stdout).toContain(integrity)
    expect(human.stdout).toMatch(/^ {2}dist\/scenario\.js +[\d.]+ kB$/m)
  })

  it('publish waits for the worker and prints the page; repeating it is no error', async () => {
    const dry = await publish('1.0.0', '--dry-run')
    const { integrity } = dry.lines[0] as { integrity: string }
    const first = await publish('1.0.0')
    expect(first.status).toBe(0)
    expect(first.lines).toMatchObject([
      {
        ok: true,
        name: '@ann/puck',
        version: '1.0.0',
        state: 'published',
        integrity,
        url: expect.stringContaining('@ann/puck'),
      },
    ])
    const again = await publish('1.0.0')
    expect(again.lines).toMatchObject([{ ok: true, state: 'published', integrity }])
    writeFileSync(join(scenario, 'README.md'), '# Puck, otherwise\n')
    const other = await publish('1.0.0')
    expect(other).toMatchObject({ status: 1, lines: [{ error: { code: 'version_exists' } }] })
  })

  it('the builder finds it', async () => {
    const { status, lines } = await builder.run(['search', 'puck', '--kind', 'scenario', '--json'])
    expect(status).toBe(0)
    expect(packageListSchema.parse(lines[0]).packages).toMatchObject([{ name: '@ann/puck', latest_version: '1.0.0' }])
    const human = await builder.run(['search', 'puck'])
    expect(human.stdout).toContain('@ann/puck')
    expect(human.stdout).toMatch(/→ Details: agentgym info @ann\/puck\n$/)
    const nothing = await builder.run(['search', 'nothing-of-that-name'])
    expect(nothing).toMatchObject({ status: 0, stdout: expect.stringContaining('No packages match') })
    const info = await builder.run(['info', '@ann/puck', '--json'])
    expect(info.lines[0]).toMatchObject({ name: '@ann/puck', latest_version: '1.0.0' })
  })

  it('the builder installs it, locked by its integrity, and nothing of it runs', async () => {
    const { status, lines } = await builder.run(['install', '@ann/puck@^1.0.0', '--json'])
    expect(status).toBe(0)
    const [installed] = (lines[0] as { packages: { folder: string; integrity: string }[] }).packages
    expect(installed).toMatchObject({ name: '@ann/puck', version: '1.0.0', range: '^1.0.0', cached: false })
    expect(existsSync(join(installed.folder, 'dist', 'scenario.js'))).toBe(true)
    expect(existsSync(join(installed.folder, 'src'))).toBe(false)
    expect(JSON.parse(readFileSync(join(builder.work, 'agentgym.lock'), 'utf8'))).toEqual({
      lock_version: 1,
      packages: {
        '@ann/puck': {
          version: '1.0.0',
          range: '^1.0.0',
          resolved: `${registry.server.url}/npm/@ann/puck/-/puck-1.0.0.tgz`,
          integrity: installed.integrity,
        },
      },
    })
    const list = await builder.run(['list', '--json'])
    expect(list.lines[0]).toMatchObject({
      installed: [{ name: '@ann/puck', version: '1.0.0', folder: installed.folder }],
    })
  })

  it('the builder trains on it by its name and evaluates the agent', async () => {
    const words = ['--steps', '6000', '--set', 'evaluation_episodes=20', '--json']
    const trained = await builder.run(['train', '@ann/puck', ...words])
    expect(resultEventSchema.parse(trained.lines.at(-1))).toMatchObject({ ok: true })
    const evaluated = await builder.run(['eval', 'puck', '--episodes', '5', '--json'])
    expect(evaluationSchema.parse(evaluated.lines[0])).toMatchObject({ scenario: '@ann/puck@1.0.0', episodes: 5 })
    // On a machine that has never seen the scenario, the registry has the version that the agent was trained on.
    const elsewhere = await builder.run(['eval', 'puck', '--episodes', '5', '--json'], {
      AGENTGYM_HOME: join(registry.folder, 'third-machine'),
    })
    expect(elsewhere.lines).toEqual(evaluated.lines)
  })

  it('train with a name installs it first', async () => {
    const empty = join(registry.folder, 'empty')
    mkdirSync(empty)
    const environment = { AGENTGYM_HOME: join(registry.folder, 'fourth-machine'), AGENTGYM_SERVER: registry.server.url }
    const words = ['train', '@ann/puck@1', '--steps', '3000', '--set', 'evaluation_episodes=5']
    const trained = await runCli(words, { cwd: empty, environment })
    expect(trained.stdout).toContain('Installed @ann/puck@1.0.0')
    expect(trained.status).toBe(0)
    expect(existsSync(join(empty, 'agentgym.lock'))).toBe(true)
  })
})

describe('versions', () => {
  it('a prerelease or a backport does not move latest (B26)', { timeout: 180_000 }, async () => {
    for (const version of ['2.0.0', '2.1.0-rc.1', '1.0.1']) {
      const { status, stdout } = await publish(version)
      expect(status, stdout).toBe(0)
    }
    const { lines } = await author.run(['versions', '@ann/puck', '--json'])
    expect(lines[0]).toMatchObject({ tags: { latest: '2.0.0' } })
    const explicit = await publish('2.1.0-rc.2', '--tag', 'next')
    expect(explicit.status).toBe(0)
    const tagged = await author.run(['versions', '@ann/puck', '--json'])
    expect(tagged.lines[0]).toMatchObject({ tags: { latest: '2.0.0', next: '2.1.0-rc.2' } })
    const info = await builder.run(['info', '@ann/puck', '--json'])
    expect(info.lines[0]).toMatchObject({ latest_version: '2.0.0' })
  })

  it('a range, a tag and an exact version install what npm would choose', async () => {
    const cases = { '^1.0.0': '1.0.1', latest: '2.0.0', next: '2.1.0-rc.2', '2.1.0-rc.1': '2.1.0-rc.1' }
    for (const [range, version] of Object.entries(cases)) {
      const { lines } = await builder.run(['install', `@ann/puck@${range}`, '--json'])
      expect(lines[0]).toMatchObject({ packages: [{ version, range }] })
    }
    const none = await builder.run(['install', '@ann/puck@^7', '--json'])
    expect(none).toMatchObject({ status: 1, lines: [{ error: { code: 'version_not_found' } }] })
  })

  it('outdated lists newer versions, with deprecated and yanked marked', async () => {
    await builder.run(['install', '@ann/puck@1.0.1'])
    expect((await author.run(['deprecate', '@ann/puck@1.0.1', 'use 2.0.0'])).status).toBe(0)
    const { lines } = await builder.run(['outdated', '--json'])
    expect(lines[0]).toMatchObject({
      packages: [{ name: '@ann/puck', installed: '1.0.1', latest: '2.0.0', deprecated: 'use 2.0.0' }],
    })
    expect((await author.run(['yank', '@ann/puck@1.0.1'])).status).toBe(0)
    const older = await builder.run(['install', '@ann/puck@^1.0.0', '--json'])
    expect(older.lines[0]).toMatchObject({ packages: [{ version: '1.0.0' }] })
    const exact = await builder.run(['install', '@ann/puck@1.0.1'])
    expect(exact.stdout).toContain('! Yanked')
    expect(exact.stdout).toContain('! Deprecated: use 2.0.0')
  })

  it('only the author may change them', async () => {
    const { status, lines } = await builder.run(['yank', '@ann/puck@2.0.0', '--json'])
    expect(status).toBe(1)
    expect(lines).toMatchObject([{ error: { code: 'forbidden' } }])
  })
})

describe('failures', () => {
  it('another account cannot publish to the scope', async () => {
    const { status, lines } = await builder.run(['scenario', 'publish', scenario, '--json'])
    expect(status).toBe(1)
    expect(lines).toMatchObject([{ error: { code: 'forbidden' } }])
  })

  it('a failing scenario is not uploaded', async () => {
    const entry = join(scenario, 'src', 'index.ts')
    const source = readFileSync(entry, 'utf8')
    writeFileSync(entry, source.replace('reward: 1 - distance', 'reward: Number.NaN'))
    const { status, lines } = await publish('3.0.0')
    writeFileSync(entry, source)
    expect(status).toBe(1)
    expect(lines).toMatchObject([{ ok: false, state: 'not_uploaded' }])
    const info = await author.run(['info', '@ann/puck@3.0.0', '--json'])
    expect(info.lines).toMatchObject([{ error: { code: 'version_not_found' } }])
  })

  it('a rejection is reported to the author, and hidden from others', async () => {
    const entry = join(scenario, 'src', 'index.ts')
    const source = readFileSync(entry, 'utf8')
    setVersion('3.0.1')
    writeFileSync(entry, source.replace('reward: 1 - distance', 'reward: Number.NaN'))
    // As another client would: ours checks before it uploads.
    const packed = await packScenario(await writeBuild(scenario))
    writeFileSync(entry, source)
    const client = createClient({ server: registry.server.url, token: author.storedToken() })
    await publishPackage(client, { name: '@ann/puck', version: '3.0.1', tarball: packed.bytes })
    await expect
      .poll(async () => (await author.run(['info', '@ann/puck@3.0.1', '--json'])).lines[0], { timeout: 60_000 })
      .toMatchObject({ state: 'rejected', checks: expect.arrayContaining([expect.objectContaining({ ok: false })]) })
    const report = await author.run(['info', '@ann/puck@3.0.1'])
    expect(report.stdout).toMatch(/^ {2}✗ rewards/m)
    expect(report.stdout).toContain('Fix the failed checks and publish again under a new version')
    const others = await builder.run(['install', '@ann/puck@3.0.1', '--json'])
    expect(others).toMatchObject({ status: 1, lines: [{ error: { code: 'version_not_found' } }] })
  })

  it('install refuses an altered tarball, and leaves nothing of it', async () => {
    const proxy = await startChangingProxy(registry.server.url)
    const home = join(registry.folder, 'behind-proxy')
    const work = join(registry.folder, 'behind-proxy-work')
    mkdirSync(work)
    const environment = { AGENTGYM_HOME: home, AGENTGYM_SERVER: proxy.url }
    const { status, lines } = await runCli(['install', '@ann/puck', '--json'], { cwd: work, environment })
    await proxy.close()
    expect(status).toBe(1)
    expect(lines).toMatchObject([{ error: { code: 'integrity_mismatch' } }])
    expect(readdirSync(work)).toEqual([])
    expect(existsSync(join(home, 'packages'))).toBe(false)
  })

  it('install refuses a tarball that differs from the lock file', async () => {
    const path = join(builder.work, 'agentgym.lock')
    const before = readFileSync(path, 'utf8')
    const other = `sha512-${Buffer.alloc(64, 7).toString('base64')}`
    writeFileSync(path, before.replace(/sha512-[^"]+/, other))
    const { status, lines } = await builder.run(['install', '--json'])
    expect(status).toBe(1)
    expect(lines).toMatchObject([{ error: { code: 'integrity_mismatch' } }])
    writeFileSync(path, before)
    expect((await builder.run(['install'])).status).toBe(0)
  })
})

describe('serve', () => {
  it('restarts its worker when it dies', async () => {
    const pids = () =>
      [...registry.server.output().matchAll(/"worker_started","pid":(\d+)/g)].map(([, pid]) => Number(pid))
    const [first] = pids()
    process.kill(first, 'SIGKILL')
    await expect.poll(() => pids().length, { timeout: 30_000 }).toBe(2)
    expect(() => process.kill(first, 0)).toThrow('ESRCH')
  })

  it('stops on Ctrl-C with its worker, and restarts with the same data', async () => {
    expect(await registry.server.stop()).toBe(0)
    const token = author.storedToken()
    registry.server = await startServer(join(registry.folder, 'data'), join(registry.folder, 'server-home'), [
      '--no-worker',
    ])
    const { lines } = await author.run(['versions', '@ann/puck', '--json'], { AGENTGYM_TOKEN: token })
    expect(lines[0]).toMatchObject({ tags: { latest: '2.0.0' } })
  })
})
