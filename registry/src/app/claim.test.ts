import { rm } from 'node:fs/promises'
import { dataFolder } from '@agentgym/testkit/registry'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { withOperators } from './operators.ts'
import { type RunningServer, serve } from './serve.ts'
import { readSettings } from './settings/read-settings.ts'

const quiet = { AGENTGYM_LOG_LEVEL: 'error' }
const password = 'correct horse battery'
/** What a server under a public address needs besides. */
const mail = { AGENTGYM_MAIL: 'console' }
let data: string
let running: RunningServer[] = []
const start = async (environment: Record<string, string> = {}) => {
  const server = await serve({ port: 0, data, environment: { ...quiet, ...environment } })
  running.push(server)
  return server
}
beforeEach(async () => {
  data = await dataFolder()
})
afterEach(async () => {
  await Promise.all(running.map((server) => server.close()))
  running = []
  await rm(data, { recursive: true, force: true })
})

describe('a server without an operator', () => {
  it('is claimed by its first account on this machine', async () => {
    expect((await start()).unclaimed).toEqual({ by: 'first_account' })
  })

  it('does not listen on public addresses, and releases the folder', async () => {
    for (const host of ['0.0.0.0', '::', '192.0.2.1'])
      await expect(start({ AGENTGYM_HOST: host, ...mail })).rejects.toMatchObject({ code: 'config_invalid' })
    const refused = await start({ AGENTGYM_HOST: '0.0.0.0', ...mail }).catch((error: unknown) => error)
    expect(refused).toMatchObject({ data: { field: 'AGENTGYM_HOST', host: '0.0.0.0' } })
    expect(String((refused as { hint: string }).hint)).toContain('agentgym operator add')
    await withOperators({ data, environment: {} }, (operators) =>
      operators.create({ username: 'ops', email: 'ops@example.com', password }),
    )
    expect((await start({ AGENTGYM_HOST: '0.0.0.0', ...mail })).unclaimed).toBeNull()
  })

  it('with a public URL prints a secret, the same at every start, until it is claimed', async () => {
    const environment = { AGENTGYM_PUBLIC_URL: 'https://gym.example.com', ...mail }
    const first = await start(environment)
    expect(first.unclaimed).toMatchObject({ by: 'secret', page: 'https://gym.example.com/setup' })
    await first.close()
    const again = await start(environment)
    expect(again.unclaimed).toEqual(first.unclaimed)
    await again.close()
    await withOperators({ data, environment: {} }, (operators) =>
      operators.create({ username: 'ops', email: 'ops@example.com', password }),
    )
    expect((await start(environment)).unclaimed).toBeNull()
  })

  it('listens on public addresses with a configured set-up secret', async () => {
    const secret = 'a-secret-of-the-operator'
    const { unclaimed } = await start({ AGENTGYM_HOST: '0.0.0.0', AGENTGYM_SETUP_SECRET: secret, ...mail })
    expect(unclaimed).toMatchObject({ by: 'secret', secret })
  })

  it('requires a mail transport with a public URL', async () => {
    await expect(start({ AGENTGYM_PUBLIC_URL: 'https://gym.example.com' })).rejects.toMatchObject({
      code: 'config_invalid',
      data: { field: 'AGENTGYM_MAIL' },
    })
  })

  it('rejects `agentgym operator` while it runs: the folder is in use', async () => {
    await start()
    await expect(withOperators({ data, environment: {} }, (operators) => operators.list())).rejects.toMatchObject({
      code: 'database_in_use',
    })
  })

  it.each<[Record<string, string>, boolean]>([
    [{}, true],
    [{ AGENTGYM_HOST: 'localhost' }, true],
    [{ AGENTGYM_HOST: '127.8.9.1' }, true],
    [{ AGENTGYM_HOST: '::1' }, true],
    [{ AGENTGYM_PUBLIC_URL: 'http://localhost:9' }, true],
    [{ AGENTGYM_PUBLIC_URL: 'http://[::1]:9' }, true],
    [{ AGENTGYM_HOST: '0.0.0.0' }, false],
    [{ AGENTGYM_HOST: '10.0.0.1' }, false],
    [{ AGENTGYM_PUBLIC_URL: 'http://127.0.0.1.nip.io' }, false],
    [{ AGENTGYM_PUBLIC_URL: 'https://localhost.example.com' }, false],
    [{ AGENTGYM_TRUSTED_PROXIES: '1' }, false],
  ])('%o: reachable from this machine only is %s', (environment, local) => {
    expect(readSettings({ environment: { ...environment, ...mail } }).config.local).toBe(local)
  })
})
