import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { runCli } from '@agentgym/testkit/command-line'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliScopes } from '../src/account/log-in.ts'
import { openRegistry, type Person, password, type Registry } from './registry-people.ts'

/** What an authenticator app shows (RFC 6238), written out, so that our library is not its own judge. */
function codeNow(base32: string): string {
  const bits = [...base32].map((digit) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(digit).toString(2).padStart(5, '0'),
  )
  const key = Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)))
  const mac = createHmac('sha1', key).update(counter).digest()
  const at = mac[19] & 15
  return String((mac.readUInt32BE(at) & 0x7fff_ffff) % 1_000_000).padStart(6, '0')
}

let registry: Registry
let ann: Person
let bob: Person
beforeAll(async () => {
  registry = await openRegistry()
  ann = registry.person('ann')
  bob = registry.person('bob')
}, 120_000)
afterAll(() => registry?.close())

describe('login by password', () => {
  it('stores a token readable by its owner only, and keeps the rest of .npmrc', async () => {
    const before = '; mine\nsave-exact=true\n//other.example/:_authToken=secret\n@ann:registry=https://old.example/\n'
    writeFileSync(ann.npmrc, before)
    const signUp = await ann.run(['signup', '--username', 'ann', '--email', 'ann@example.com', '--json'])
    expect(signUp).toMatchObject({ status: 0, lines: [{ username: 'ann' }] })
    const token = await ann.logIn()
    await bob.join()
    expect(statSync(join(ann.home, 'credentials.json')).mode & 0o777).toBe(0o600)
    const { url } = registry.server
    expect(readFileSync(ann.npmrc, 'utf8')).toBe(
      `${before.replace('https://old.example/', `${url}/npm/`)}//${new URL(url).host}/npm/:_authToken=${token}\n`,
    )
    expect(statSync(bob.npmrc).mode & 0o777).toBe(0o600)
  })

  it('works for whoami and npm', async () => {
    const { lines } = await ann.run(['whoami', '--json'])
    expect(lines[0]).toMatchObject({ username: 'ann', server: registry.server.url, operator: true })
    const npm = await promisify(execFile)('npm', ['whoami', '--registry', `${registry.server.url}/npm/`], {
      env: { ...process.env, npm_config_userconfig: ann.npmrc },
    })
    expect(npm.stdout.trim()).toBe('ann')
  })

  it('explains errors of password, token and server', async () => {
    const wrong = await ann.run(['login', '--username', 'ann', '--json'], { AGENTGYM_PASSWORD: 'not the password' })
    expect(wrong).toMatchObject({ status: 1, lines: [{ error: { code: 'credentials_invalid' } }] })
    const none = await ann.run(['login', '--username', 'ann', '--json'], { AGENTGYM_PASSWORD: '' })
    expect(none).toMatchObject({ status: 2, lines: [{ error: { code: 'usage_invalid' } }] })
    const token = await ann.run(['whoami', '--json'], { AGENTGYM_TOKEN: 'agt_wrong' })
    expect(token.lines).toMatchObject([
      { error: { code: 'unauthenticated', hint: expect.stringContaining('AGENTGYM_TOKEN') } },
    ])
    const silent = await ann.run(['whoami', '--json'], { AGENTGYM_SERVER: 'http://localhost:9' })
    expect(silent.lines).toMatchObject([
      { error: { code: 'server_unreachable', hint: expect.stringContaining('agentgym serve') } },
    ])
    const environment = { AGENTGYM_HOME: join(registry.folder, 'nobody'), AGENTGYM_SERVER: registry.server.url }
    const stranger = await runCli(['whoami', '--json'], { environment })
    expect(stranger.lines).toMatchObject([
      { error: { code: 'unauthenticated', hint: expect.stringContaining('agentgym login') } },
    ])
  })
})

describe('a second factor', () => {
  it('is requested after the password, or read from AGENTGYM_CODE', async () => {
    const { url } = registry.server
    const cid = registry.person('cid')
    await cid.join()
    const json = { 'content-type': 'application/json' }
    const send = async (method: string, path: string, body: object, cookie = '') => {
      const answer = await fetch(`${url}${path}`, { method, headers: { ...json, cookie }, body: JSON.stringify(body) })
      return { answer, body: (await answer.json()) as { recovery_codes: string[]; secret: string } }
    }
    const { answer } = await send('POST', '/v1/sessions', { username: 'cid', password })
    const cookie = answer.headers.get('set-cookie')?.split(';')[0]
    const path = '/v1/account/second-factor'
    const { secret } = (await send('POST', path, { current_password: password }, cookie)).body
    const enabled = await send('PUT', path, { code: codeNow(secret) }, cookie)
    const logIn = (AGENTGYM_CODE: string) => cid.run(['login', '--username', 'cid', '--json'], { AGENTGYM_CODE })
    expect((await logIn('')).lines).toMatchObject([{ error: { code: 'second_factor_required' } }])
    expect((await logIn('aaaa-aaaa-aaaa-aaaa')).lines).toMatchObject([{ error: { code: 'second_factor_invalid' } }])
    expect((await logIn(enabled.body.recovery_codes[0])).lines).toMatchObject([{ username: 'cid' }])
    expect((await cid.run(['whoami', '--json'])).lines).toMatchObject([{ username: 'cid' }])
  })
})

describe('a token from the environment', () => {
  it('is stored by --token after validation', async () => {
    const elsewhere = { AGENTGYM_HOME: join(registry.folder, 'elsewhere') }
    const made = await ann.run(['token', 'create', 'ci', '--username', 'ann', '--scope', 'packages:read'])
    const token = made.stdout.trim()
    registry.secrets.push(token)
    const bad = await ann.run(['login', '--token', '--no-npmrc'], { ...elsewhere, AGENTGYM_TOKEN: 'agt_wrong' })
    expect(bad.status).toBe(1)
    expect(existsSync(join(registry.folder, 'elsewhere', 'credentials.json'))).toBe(false)
    const good = await ann.run(['login', '--token', '--no-npmrc', '--json'], { ...elsewhere, AGENTGYM_TOKEN: token })
    expect(good.lines[0]).toMatchObject({ username: 'ann', scopes: ['packages:read'], npmrc: null })
    const stored = await ann.run(['whoami', '--json'], elsewhere)
    expect(stored.lines[0]).toMatchObject({ username: 'ann' })
  })

  it('of a worker can only be created by an operator, and a worker needs one', async () => {
    const refused = await bob.run(['token', 'create', 'w', '--username', 'bob', '--scope', 'worker', '--json'])
    expect(refused.lines).toMatchObject([{ error: { code: 'forbidden' } }])
    const worker = await bob.run(['worker', '--json'])
    expect([worker.status, worker.lines.at(-1)]).toMatchObject([1, { error: { code: 'forbidden' } }])
  })
})

describe('login in the browser', () => {
  it('waits for the page to be approved', async () => {
    const home = join(registry.folder, 'laptop')
    const environment = { AGENTGYM_HOME: home, AGENTGYM_SERVER: registry.server.url }
    let approval: Promise<number> | undefined
    const { status, lines, stdout } = await runCli(['login', '--no-npmrc', '--json'], {
      environment,
      onLine: (line) => {
        const said = JSON.parse(line)
        if (said.event === 'device_code') approval = approve(said.verification_uri_complete)
      },
    })
    expect(await approval).toBe(200)
    registry.outputs.push(stdout)
    expect(status).toBe(0)
    expect(lines).toMatchObject([
      { event: 'device_code', user_code: expect.stringMatching(/^[A-Z]{4}-[A-Z]{4}$/) },
      { username: 'bob', scopes: cliScopes },
    ])
    const stored = await runCli(['whoami', '--json'], { environment })
    expect(stored.lines[0]).toMatchObject({ username: 'bob' })
  })

  /** What bob does in a browser: he is logged in there, opens the page and presses the button. */
  async function approve(address: string): Promise<number> {
    const { url } = registry.server
    const session = await fetch(`${url}/v1/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'bob', password }),
    })
    const page = await fetch(address, { headers: { cookie: cookiesOf(session) } })
    const text = await page.text()
    const field = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? ''
    const decided = await fetch(`${url}/device`, {
      method: 'POST',
      headers: { cookie: `${cookiesOf(session)}; ${cookiesOf(page)}`, origin: url },
      body: new URLSearchParams({
        step: 'approve',
        form_token: field('form_token'),
        user_code: field('user_code'),
      }),
    })
    return decided.status
  }

  function cookiesOf(response: Response): string {
    return response.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ')
  }
})

describe('logout', () => {
  it('revokes the token and removes it from .npmrc', async () => {
    const token = bob.storedToken()
    const { lines } = await bob.run(['logout', '--json'])
    expect(lines[0]).toEqual({ server: registry.server.url, username: 'bob', revoked: true })
    expect(readFileSync(bob.npmrc, 'utf8')).toBe(`@bob:registry=${registry.server.url}/npm/\n`)
    const after = await bob.run(['whoami', '--json'], { AGENTGYM_TOKEN: token })
    expect(after.lines).toMatchObject([{ error: { code: 'unauthenticated' } }])
    const again = await bob.run(['logout', '--json'])
    expect(again.lines[0]).toMatchObject({ username: null, revoked: false })
  })

  it('tokens and passwords are never printed or logged', () => {
    const everything = [...registry.outputs, registry.server.output()].join('\n')
    for (const secret of registry.secrets) expect(everything).not.toContain(secret)
    expect(everything).not.toMatch(/agt_[0-9A-Za-z]{20}/)
  })
})
