import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Actor, scopes } from '../../src/core/access/authorize.ts'
import { buy, fund } from '../../src/modules/orders/testing/marketplace.ts'
import { setPrice } from '../../src/modules/prices/set-price.ts'
import { type Client, clientsIn, type Ran } from './npm-client.ts'
import { writeScenarioFolder } from './scenario-package.ts'
import { openTestRegistry, type TestRegistry } from './test-registry.ts'

let registry: TestRegistry
let folder: string
let count = 0
const name = '@seller/maze'

type User = Actor & { token: string }

async function signUp(username: string): Promise<User> {
  const { accountId, token } = await registry.signUp(username)
  const everything = new Set(scopes)
  return { accountId, username, emailVerified: true, operator: false, tokenId: null, scopes: everything, token }
}

async function clientsOf(username: string, token: string | null) {
  return clientsIn(join(folder, `home-${username}-${count++}`), { url: registry.url, token })
}

/** A folder to install into. `pnpm init` would ask the registry for pnpm itself from then on. */
async function project(dependencies?: Record<string, string>): Promise<string> {
  const cwd = join(folder, `project-${count++}`)
  await mkdir(cwd, { recursive: true })
  await writeFile(join(cwd, 'package.json'), JSON.stringify({ private: true, dependencies }))
  return cwd
}

const bought = async (cwd: string) => readFile(join(cwd, 'node_modules', name, 'dist/scenario.js'), 'utf8')
const reported = ({ status, stdout, stderr }: Ran) => {
  expect(status, stdout + stderr).not.toBe(0)
  return stdout + stderr
}
const done = ({ status, stdout, stderr }: Ran) => expect(status, stdout + stderr).toBe(0)

let buyer: User
let refunded: User

beforeAll(async () => {
  registry = await openTestRegistry()
  folder = await mkdtemp(join(tmpdir(), 'agentgym-paid-'))
  const { services } = registry
  const seller = await signUp('seller')
  const { npm } = await clientsOf('seller', seller.token)
  const source = join(folder, 'source')
  await writeScenarioFolder(source, { name, version: '1.0.0' })
  done(await npm(source)('publish'))
  await registry.pass(name, '1.0.0')
  await setPrice(services, { actor: seller, name, ip: null }, { kind: 'one_time', amount_minor: 1_250 })
  buyer = await signUp('buyer')
  refunded = await signUp('refunded')
  for (const user of [buyer, refunded]) {
    await fund(services.database, user.accountId, 5_000)
    await buy(services, user, { name })
  }
})
afterAll(async () => {
  await registry.close()
  await rm(folder, { recursive: true, force: true })
})

describe.each([
  { program: 'npm', add: 'install', frozen: ['ci'], status: '402' },
  { program: 'pnpm', add: 'add', frozen: ['install', '--frozen-lockfile'], status: '403' },
] as const)('a paid package with $program', ({ program, add, frozen, status }) => {
  const clientOf = async (username: string, token: string | null): Promise<(cwd: string) => Client> =>
    (await clientsOf(username, token))[program]

  it('is installed by buyers, also from the lockfile, and not by others from the same one', async () => {
    const run = await clientOf('buyer', buyer.token)
    const cwd = await project()
    done(await run(cwd)(add, name))
    expect(await bought(cwd)).toContain('1.0.0')
    await rm(join(cwd, 'node_modules'), { recursive: true })
    done(await run(cwd)(...frozen))
    await rm(join(cwd, 'node_modules'), { recursive: true })
    const stranger = await clientOf('stranger', null)
    expect(reported(await stranger(cwd)(...frozen))).toContain(status)
  })

  it('is refused to others with where to buy it', async () => {
    const other = await signUp(`other-${program}`)
    for (const token of [null, other.token]) {
      const run = await clientOf('other', token)
      const cwd = await project()
      const text = reported(await run(cwd)(add, name))
      expect(text).toContain(status)
      expect(text).toContain(`agentgym buy ${name}@1`)
      expect(text).toContain(`${registry.url}/packages/${name}`)
      await expect(bought(cwd)).rejects.toThrow()
    }
  })

  it('is installed right after the purchase, despite the client’s cache', async () => {
    const late = await signUp(`late-${program}`)
    const run = await clientOf('late', late.token)
    const cwd = await project()
    reported(await run(cwd)(add, name))
    await fund(registry.services.database, late.accountId, 5_000)
    await buy(registry.services, late, { name })
    const ran = await run(cwd)(add, name)
    done(ran)
    expect(ran.stdout + ran.stderr).not.toContain('agentgym buy')
    expect(await bought(cwd)).toContain('1.0.0')
  })

  it('shows its metadata to everyone', async () => {
    const run = await clientOf('stranger', null)
    const ran = await run(await project())('view', name, 'version')
    done(ran)
    expect(ran.stdout).toContain('1.0.0')
  })
})

it('is no longer installed after a refund', async () => {
  const { services } = registry
  const licenses = services.database.query.updateTable('entitlements').set({ revoked_at: new Date() })
  await licenses.where('holder_id', '=', refunded.accountId).execute()
  const { npm } = await clientsOf('refunded', refunded.token)
  expect(reported(await npm(await project())('install', name))).toContain(`agentgym buy ${name}@1`)
})
