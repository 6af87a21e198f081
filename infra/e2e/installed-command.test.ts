// @module-tag full
import { execFile, execFileSync } from 'node:child_process'
import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type ServerProcess, startServerProcess } from '@agentgym/testkit/command-line'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { repositoryRoot } from '../checks/repository-files.ts'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'agentgym-installed-'))
// Below the repository's node_modules, which jobs of a command in there may read.
mkdirSync(join(repositoryRoot, 'node_modules/.cache'), { recursive: true })
const linked = mkdtempSync(join(repositoryRoot, 'node_modules/.cache/installed-command-'))
let server: ServerProcess
let address: string

beforeAll(async () => {
  for (const script of ['web/build.ts', 'infra/cli-package/build.ts'])
    execFileSync(process.execPath, [join(repositoryRoot, script)])
  server = await startServerProcess(join(folder, 'data'), join(folder, 'server'), ['--no-worker'])
  address = `${server.url}/cli/agentgym.tgz`
}, 120_000)
afterAll(async () => {
  await server.stop()
  for (const made of [folder, linked]) rmSync(made, { recursive: true, force: true })
})

/** As npm lays it out, with dependencies from this repository instead of the registry. */
async function installLinked(prefix: string): Promise<void> {
  const installed = join(prefix, 'lib/node_modules/agentgym')
  mkdirSync(installed, { recursive: true })
  writeFileSync(join(folder, 'agentgym.tgz'), Buffer.from(await (await fetch(address)).arrayBuffer()))
  execFileSync('tar', ['-xzf', join(folder, 'agentgym.tgz'), '-C', installed, '--strip-components=1'])
  const { dependencies, bundleDependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  for (const name of Object.keys(dependencies)) {
    if (bundleDependencies.includes(name)) continue
    const [found] = globSync(`{sdk/*,runtime}/node_modules/${name}`, { cwd: repositoryRoot })
    mkdirSync(dirname(join(installed, 'node_modules', name)), { recursive: true })
    symlinkSync(realpathSync(join(repositoryRoot, found)), join(installed, 'node_modules', name))
  }
  mkdirSync(join(prefix, 'bin'))
  chmodSync(join(installed, 'bin/agentgym.cjs'), 0o755)
  symlinkSync('../lib/node_modules/agentgym/bin/agentgym.cjs', join(prefix, 'bin/agentgym'))
}

/** What a visitor types. */
async function installWithNpm(prefix: string): Promise<void> {
  await run('npm', ['install', '-g', '--prefix', prefix, '--ignore-scripts', '--no-audit', '--no-fund', address])
}

it('the server offers the package, on its home page too', async () => {
  const first = await fetch(address)
  const bytes = await first.arrayBuffer()
  const tag = first.headers.get('etag') ?? ''
  expect(tag).toMatch(/^"sha512-[\w+/=]+"$/)
  const head = await fetch(address, { method: 'HEAD' })
  for (const { status, headers } of [first, head]) {
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/gzip')
    expect(headers.get('content-length')).toBe(String(bytes.byteLength))
    expect(headers.get('agentgym-version')).toMatch(/^\d+\.\d+\.\d+/)
  }
  const again = await fetch(address, { headers: { 'if-none-match': tag } })
  expect([again.status, (await again.arrayBuffer()).byteLength]).toEqual([304, 0])
  expect(await (await fetch(server.url)).text()).toContain(`npm install -g --ignore-scripts ${address}`)
})

function journey(username: string, install: (prefix: string) => Promise<void>, prefix: string): void {
  const home = join(prefix, 'home')
  const agentgym = async (...words: string[]): Promise<string> => {
    const env = {
      // The Node of this run, where a user has Node 24.
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      HOME: home,
      AGENTGYM_HOME: join(home, '.agentgym'),
      AGENTGYM_SERVER: server.url,
      AGENTGYM_PASSWORD: 'correct horse battery staple',
      AGENTGYM_WITHOUT_WALLS: 'any',
      LC_ALL: 'C.UTF-8',
    }
    const { stdout } = await run(join(prefix, 'bin/agentgym'), words, { cwd: home, env }).catch((error) => {
      throw new Error(`agentgym ${words.join(' ')}: ${error.stdout}${error.stderr}`)
    })
    return stdout
  }
  const lastLine = (text: string) => JSON.parse(text.trim().split('\n').at(-1) ?? '')

  beforeAll(async () => {
    mkdirSync(home, { recursive: true })
    await install(prefix)
  }, 600_000)

  it('shows its version and the built-in scenarios', async () => {
    expect(await agentgym('--version')).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(await agentgym('list')).toContain('cart-pole')
  })

  it('makes an account on the server', async () => {
    await agentgym('signup', '--username', username, '--email', `${username}@example.com`)
    await agentgym('login', '--username', username)
    expect(await agentgym('whoami')).toContain(username)
  })

  it('makes, tests and checks a scenario, trains an agent and evaluates it', async () => {
    await agentgym('scenario', 'init', 'maze', '--yes')
    expect(lastLine(await agentgym('scenario', 'test', 'maze', '--json'))).toMatchObject({ ok: true, failed: 0 })
    expect(lastLine(await agentgym('scenario', 'check', 'maze', '--json'))).toMatchObject({ ok: true })
    const trained = lastLine(await agentgym('train', 'maze', '--steps', '2000', '--out', 'agent', '--json'))
    expect(trained).toMatchObject({ event: 'result', ok: true })
    const evaluated = lastLine(await agentgym('eval', 'agent', '--episodes', '10', '--json'))
    expect(evaluated).toMatchObject({ episodes: 10, trajectory_hash: expect.any(String) })
  })

  it('says that it has no server', async () => {
    await expect(agentgym('serve', '--port', '0', '--json')).rejects.toThrow(
      /"code":"setup_incomplete","message":"this installation of agentgym has no server"/,
    )
  })
}

describe('installed command', { timeout: 120_000 }, () => journey('ann', installLinked, linked))

if (isLong)
  describe('command installed by npm', { timeout: 120_000 }, () => journey('ben', installWithNpm, join(folder, 'npm')))
