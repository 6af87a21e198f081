import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCli, type ServerProcess, startServerProcess } from '@agentgym/testkit/command-line'
import { dataFolder } from '@agentgym/testkit/registry'
import { afterAll, beforeAll, expect, it } from 'vitest'

const password = 'a password for tests'
let folder: string
let data: string
let server: ServerProcess | undefined
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'agentgym-operator-'))
  data = await dataFolder()
})
afterAll(async () => {
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
  rmSync(data, { recursive: true, force: true })
})

const agentgym = (words: string[], environment: Record<string, string> = {}) =>
  runCli(['--json', ...words], { cwd: folder, environment: { AGENTGYM_PASSWORD: password, ...environment } })
const codeOf = ({ stderr, lines }: { stderr: string; lines: unknown[] }) =>
  JSON.stringify(lines).match(/"code":"(\w+)"/)?.[1] ?? stderr.match(/"code":"(\w+)"/)?.[1]

it('adds operators to the database of a stopped server, and keeps at least one', async () => {
  const nobody = await agentgym(['operator', 'add', 'ops', '--data', data])
  expect([nobody.status, codeOf(nobody)]).toEqual([1, 'account_not_found'])
  const short = await agentgym(['operator', 'add', 'ops', '--email', 'ops@example.com', '--data', data], {
    AGENTGYM_PASSWORD: 'short',
  })
  expect(codeOf(short)).toBe('request_invalid')
  const added = await agentgym(['operator', 'add', 'ops', '--email', 'ops@example.com', '--data', data])
  expect(added.lines).toEqual([{ username: 'ops', operator: true, created: true }])
  const last = await agentgym(['operator', 'remove', 'ops', '--data', data])
  expect([last.status, codeOf(last)]).toEqual([1, 'last_operator'])
  const { lines } = await agentgym(['operator', 'list', '--data', data])
  expect(lines).toEqual([{ operators: [{ username: 'ops', email: 'ops@example.com', disabled: false }] }])
  const set = (address: string) => agentgym(['operator', 'set-email', 'ops', address, '--local', '--data', data])
  expect(codeOf(await set('ops at example'))).toBe('usage_invalid')
  expect((await set('ops2@example.com')).lines).toEqual([{ username: 'ops', email: 'ops2@example.com' }])
})

it('disables, enables and signs out accounts of a running server', async () => {
  server = await startServerProcess(data, join(folder, 'server-home'))
  const { url } = server
  const running = await agentgym(['operator', 'list', '--data', data])
  expect(codeOf(running)).toBe('database_in_use')
  const at = { AGENTGYM_SERVER: url }
  expect((await agentgym(['signup', '--username', 'ann', '--email', 'ann@example.com'], at)).lines).toMatchObject([
    { username: 'ann', operator: false },
  ])
  await agentgym(['login', '--username', 'ops', '--no-npmrc'], at)
  const logIn = () =>
    fetch(`${url}/v1/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'ann', password }),
    })
  const cookie = (await logIn()).headers.get('set-cookie')?.split(';')[0] ?? ''
  const alive = async () => (await fetch(`${url}/v1/account`, { headers: { cookie } })).status
  expect(await alive()).toBe(200)
  expect((await agentgym(['operator', 'sign-out', 'ann'], at)).status).toBe(0)
  expect(await alive()).toBe(401)
  expect(codeOf(await agentgym(['operator', 'set-email', 'ann', 'ops2@example.com'], at))).toBe('email_taken')
  expect((await agentgym(['operator', 'set-email', 'ann', 'ann2@example.com'], at)).status).toBe(0)
  const clear = (scenario: string) => agentgym(['operator', 'clear-nondeterministic', scenario], at)
  expect(codeOf(await clear('@acme/maze'))).toBe('usage_invalid')
  expect(codeOf(await clear('@acme/maze@1.0.0'))).toBe('package_not_found')
  expect((await agentgym(['operator', 'disable', 'ann', '--reason', 'Spam'], at)).status).toBe(0)
  expect((await logIn()).status).toBe(401)
  expect((await agentgym(['operator', 'accounts', 'ann'], at)).lines).toMatchObject([
    { accounts: [{ username: 'ann', disabled: { reason: 'Spam' } }] },
  ])
  expect((await agentgym(['operator', 'enable', 'ann'], at)).status).toBe(0)
  expect((await logIn()).status).toBe(200)
})
