import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { createClient, packagePath, publishPackage, versionPath } from '@agentgym/client'
import type { HostedCall, Run } from '@agentgym/contract'
import { runCliProcess } from '@agentgym/testkit/command-line'
import { packScenario } from '@agentgym/testkit/packages'
import { claimAt, signUpAt } from '@agentgym/testkit/people'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readRepositoryFile } from '../checks/repository-files.ts'
import { type MailServer, prepareStack, type Stack, standIns, startMailServer } from './stack.ts'

type Services = Record<string, { image: string }>

it('has a stand-in for every public image but that of Grafana', () => {
  const { services } = parse(readRepositoryFile('infra/compose/compose.yaml'), { merge: true }) as {
    services: Services
  }
  const variables = Object.values(services).map(({ image }) => /^\$\{([A-Z_]+):/.exec(image)?.[1])
  const ours = ['AGENTGYM_SERVER_IMAGE', 'AGENTGYM_WORKER_IMAGE']
  expect(new Set(variables)).toEqual(new Set([...ours, ...Object.keys(standIns), 'GRAFANA_IMAGE']))
  for (const target of Object.values(standIns))
    expect(readRepositoryFile('infra/compose/stand-ins/Containerfile')).toContain(` AS ${target}\n`)
})

/** What build.sh and build-stand-ins.sh wrote; beside an engine: `sh infra/compose/engine.sh vitest run …`. */
const { AGENTGYM_IMAGES: images, AGENTGYM_STAND_INS: programs } = process.env
if (isLong && images !== undefined && programs !== undefined)
  describe('the stack of compose.yaml', { timeout: 1_800_000 }, () => {
    const url = 'https://localhost'
    const scopes = [
      'packages:manage',
      'training:start',
      'training:view',
      'agents:call',
      'packages:read',
      'market:buy',
      'market:sell',
    ]
    const folder = mkdtempSync(join(tmpdir(), 'agentgym-stack-'))
    const authority = join(folder, 'authority.pem')
    let stack: Stack
    let mail: MailServer
    const up = (...words: string[]) => stack.compose('up', '--detach', '--pull', 'never', '--quiet-pull', ...words)

    /** An account whose address is confirmed by the link in the mail. */
    const register = async (username: string) => {
      const person = await signUpAt(url, username, scopes)
      const link = await known(() => mail.linkTo(`${username}@example.com`))
      await person.client.send('/v1/email-verifications', post({ token: link.searchParams.get('token') }))
      return person
    }
    const type = async (token: string, ...words: string[]) => {
      const { status, stdout, stderr } = await runCliProcess(words, {
        cwd: folder,
        environment: {
          ...{ AGENTGYM_SERVER: url, AGENTGYM_TOKEN: token, AGENTGYM_HOME: join(folder, 'home') },
          NODE_EXTRA_CA_CERTS: authority,
        },
      })
      expect([words, status, stdout + stderr]).toEqual([words, 0, expect.any(String)])
    }

    beforeAll(async () => {
      mail = await startMailServer()
      stack = await prepareStack(folder, {
        ...{ images, programs },
        settings: { AGENTGYM_HOSTNAME: 'localhost', AGENTGYM_MAIL_FROM: 'gym@example.com' },
      })
      // The address that containers reach this process at.
      const [, gateway] =
        /inet ([\d.]+)/.exec(execFileSync('ip', ['-4', 'address', 'show', 'docker0'], { encoding: 'utf8' })) ?? []
      stack.secret('mail-url', `smtp://${gateway}:${mail.port}`)
    }, 900_000)
    afterAll(async () => {
      await stack?.compose('down', '--volumes', '--timeout', '20')
      const left = ['ps', '--all', '--quiet', '--filter', 'label=com.docker.compose.project']
      expect(execFileSync('docker', left, { encoding: 'utf8' })).toBe('')
      mail?.close()
      rmSync(folder, { recursive: true })
    }, 300_000)

    it('starts as its README says, and is claimed with the set-up secret', async () => {
      const started = Date.now()
      await up('server', 'proxy')
      console.log(`server behind its proxy after ${((Date.now() - started) / 1_000).toFixed(0)} s`)
      const root = '/data/caddy/pki/authorities/local/root.crt'
      writeFileSync(
        authority,
        await known(() => stack.compose('exec', '-T', 'proxy', 'cat', root).catch(() => undefined)),
      )
      setDefaultCACertificates([...getCACertificates('default'), readFileSync(authority, 'utf8')])
      expect(await (await fetch(url)).text()).toContain('</html>')
      expect((await fetch(`${url}/metrics`)).status).toBe(404)
      await signUpAt(url, 'keeper', scopes)
      stack.secret('worker-token', await claimAt(url, 'keeper', stack.secret('setup-secret')))
      const before = Date.now()
      await up('--scale', 'server=2', 'server', 'worker', 'proxy', 'prometheus')
      console.log(
        `a second server, two workers and Prometheus after ${((Date.now() - before) / 1_000).toFixed(0)} s more`,
      )
    })

    it('publishes a scenario, trains on two workers, and sells an agent that the buyer calls', async () => {
      const author = await register('acme')
      await publishPackage(author.client, await packScenario('cart-pole', { name: '@acme/cart-pole' }))
      const published = async (name: string, version: string) => {
        const { state } = (await (await author.client.send(versionPath(name, version))).json()) as { state: string }
        return state === 'published' || undefined
      }
      await known(() => published('@acme/cart-pole', '1.0.0'))
      const train = (name: string, seed: string) =>
        type(
          author.token,
          ...[
            'train',
            '@acme/cart-pole',
            '--remote',
            '--steps',
            '100000',
            '--seed',
            seed,
            '--watch',
            '--out',
            join(folder, name),
          ],
          ...['--publish', `@acme/${name}`, '--summary', 'Balances the pole.', '--json'],
        )
      await Promise.all([train('balancer', '1'), train('other', '2')])
      const { runs } = (await (await author.client.send('/v1/runs')).json()) as { runs: Run[] }
      expect(runs.map(({ state }) => state)).toEqual(['completed', 'completed'])
      expect(new Set(runs.map(({ worker }) => worker)).size).toBe(2)

      await known(() => published('@acme/balancer', '0.1.0'))
      writeFileSync(join(folder, 'terms.txt'), 'You may use this agent in your own products.\n')
      await type(author.token, 'price', '@acme/balancer', '12.50', '--terms', 'terms.txt', '--yes')
      const buyer = await register('bob')
      await type(buyer.token, 'balance', 'top-up', '20')
      await type(buyer.token, 'buy', '@acme/balancer', '--max', '15', '--yes')
      const answer = await buyer.client.send(
        `${packagePath('@acme/balancer')}/calls`,
        post({ observation: [0, 0, 0.05, 0] }),
      )
      expect((await answer.json()) as HostedCall).toMatchObject({
        package: '@acme/balancer',
        label: expect.any(String),
      })
    })

    it('is watched by Prometheus, and keeps workers away from database and storage', async () => {
      const query = async (expression: string) => {
        const address = `http://127.0.0.1:9090/api/v1/query?query=${encodeURIComponent(expression)}`
        const text = await stack.compose('exec', '-T', 'prometheus', 'wget', '-q', '-O', '-', address)
        return (JSON.parse(text).data.result as { value: [number, string] }[]).map(({ value }) => value[1])
      }
      await known(async () => `${await query('up{job="agentgym"}')}` === '1,1' || undefined)
      await known(async () => `${await query('max(workers_connected)')}` === '2' || undefined)
      expect(await query('count(ALERTS{alertname=~"AgentGym(Server|Database)Down"})')).toEqual([])
      const reach = (host: string, port: number) =>
        stack.compose(
          ...['exec', '-T', '--index', '1', 'worker', '/usr/bin/node', '-e'],
          `require('net').connect(${port}, '${host}').on('connect', () => { console.log('reached'); process.exit() })
            .on('error', ({ code }) => { console.log(code); process.exit() })`,
        )
      expect((await reach('server', 4477)).trim()).toBe('reached')
      for (const [host, port] of [
        ['postgres', 5432],
        ['storage', 8333],
      ] as const)
        expect((await reach(host, port)).trim()).toMatch(/^(ENOTFOUND|EAI_AGAIN)$/)
    })

    it('has every service running and healthy, and starts again with what it had', async () => {
      const states = async () =>
        (await stack.compose('ps', '--format', '{{.Service}} {{.State}} {{.Health}}'))
          .trim()
          .split('\n')
          .map((line) => line.trim())
          .sort()
      const running = [
        'postgres running healthy',
        'prometheus running healthy',
        'proxy running healthy',
        'server running healthy',
        'server running healthy',
        'storage running healthy',
        'worker running',
        'worker running',
      ]
      await known(async () => `${await states()}` === `${running}` || undefined)
      await stack.compose('restart')
      const stranger = createClient({ server: url })
      await known(() => stranger.send(packagePath('@acme/balancer')).catch(() => undefined))
      await known(async () => `${await states()}` === `${running}` || undefined)
    })
  })

/** Waits for a value. */
async function known<Value>(read: () => Value | undefined | Promise<Value | undefined>): Promise<Value> {
  for (;;) {
    const value = await read()
    if (value !== undefined) return value
    await delay(500)
  }
}

function post(body: unknown): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}
