import { appendFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { integrityOf } from '@agentgym/client'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { agentEntries, goodAgent } from '../../../testdata/tarballs/good-agent.ts'
import { archive, gzip } from '../../../testdata/tarballs/tar-writer.ts'
import { loadAgent } from './load-agent.ts'

let home: string
let server: Server
let address: string
let asked: string[]
let answers: Record<string, { status: number; body: unknown }>

/** The routes of a registry that a program needs to load a package. */
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'agentgym-load-'))
  vi.stubEnv('AGENTGYM_HOME', home)
  vi.stubEnv('AGENTGYM_TOKEN', '')
  asked = []
  answers = {}
  server = createServer(({ url = '', headers }, response) => {
    asked.push(`${url}${headers.authorization ? ' with a token' : ''}`)
    const { status, body } = answers[url] ?? {
      status: 404,
      body: { error: { code: 'package_not_found', message: 'no' } },
    }
    if (Buffer.isBuffer(body)) response.writeHead(status).end(body)
    else response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  vi.stubEnv('AGENTGYM_SERVER', address)
})
afterEach(() => {
  vi.unstubAllEnvs()
  server.close()
  server.closeAllConnections()
  rmSync(home, { recursive: true })
})

const path = '/v1/packages/@t/maze-ppo/resolve?range='
const file = (version: string) => `/npm/@t/maze-ppo/-/maze-ppo-${version}.tgz`

async function offer(version: string, ...ranges: string[]): Promise<void> {
  const body = gzip(archive(agentEntries({ version })))
  const resolved = {
    ...{
      name: '@t/maze-ppo',
      version,
      integrity: await integrityOf(body),
      tarball: `https://elsewhere${file(version)}`,
    },
    ...{ deprecated: null, yanked: false },
  }
  answers[file(version)] = { status: 200, body: Buffer.from(body) }
  for (const range of ranges) answers[`${path}${encodeURIComponent(range)}`] = { status: 200, body: resolved }
}

describe('a name', () => {
  it('is resolved by the server, downloaded once, and kept', async () => {
    await offer('0.1.0', 'latest', '^0.1')
    const agent = await loadAgent('@t/maze-ppo@^0.1', { token: 'agt_mine' })
    expect(agent.act([0.5, -0.5])).toMatchObject({ label: null, arguments: null, state: null })
    expect(agent.manifest.model_hash).toBe(goodAgent.model_hash)
    expect(asked).toEqual([`${path}%5E0.1 with a token`, `${file('0.1.0')} with a token`])
    await loadAgent('@t/maze-ppo')
    expect(asked.slice(2)).toEqual([`${path}latest`])
  })

  it('is found on this machine while the server is away: the newest version that fits', async () => {
    await offer('0.1.0', '0.1.0')
    await offer('0.2.0', 'latest')
    await loadAgent('@t/maze-ppo@0.1.0')
    await loadAgent('@t/maze-ppo')
    asked = []
    expect((await loadAgent('@t/maze-ppo', { offline: true })).manifest).toEqual(goodAgent)
    expect(asked).toEqual([])
    server.close()
    server.closeAllConnections()
    await expect(loadAgent('@t/maze-ppo@~0.1.0')).resolves.toBeDefined()
    await expect(loadAgent('@t/maze-ppo@^2')).rejects.toMatchObject({
      code: 'server_unreachable',
      message: `@t/maze-ppo@^2 is not on this machine, and ${address} does not answer.`,
    })
  })

  it('is refused as the server refuses it', async () => {
    const error = { code: 'payment_required', message: 'Buy it first.', hint: 'agentgym buy @t/maze-ppo' }
    answers[`${path}latest`] = { status: 402, body: { error } }
    await expect(loadAgent('@t/maze-ppo')).rejects.toMatchObject(error)
    await expect(loadAgent('@t/other')).rejects.toMatchObject({ code: 'package_not_found' })
  })

  it('is not used with other bytes than the server recorded, and damaged files are downloaded again', async () => {
    await offer('0.1.0', 'latest')
    const { body } = answers[file('0.1.0')]
    answers[file('0.1.0')].body = Buffer.concat([body as Buffer, Buffer.from([0])])
    await expect(loadAgent('@t/maze-ppo')).rejects.toMatchObject({ code: 'integrity_mismatch' })
    answers[file('0.1.0')].body = body
    await loadAgent('@t/maze-ppo')
    const [stored] = readdirSync(join(home, 'packages'))
    appendFileSync(join(home, 'packages', stored, 'model.onnx'), 'more')
    await loadAgent('@t/maze-ppo')
    expect(asked.filter((url) => url === file('0.1.0'))).toHaveLength(3)
  })

  it('means the version of agentgym.lock where the working folder has one', async () => {
    await offer('0.1.0', '0.1.0')
    await offer('0.2.0', 'latest')
    await loadAgent('@t/maze-ppo@0.1.0')
    const integrity = (answers[`${path}0.1.0`].body as { integrity: string }).integrity
    const locked = { version: '0.1.0', range: 'latest', resolved: address, integrity }
    writeFileSync(join(home, 'agentgym.lock'), JSON.stringify({ lock_version: 1, packages: { '@t/maze-ppo': locked } }))
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue(home)
    asked = []
    await loadAgent('@t/maze-ppo')
    expect(asked).toEqual([])
    await loadAgent('@t/maze-ppo@0.2.0').catch(() => {})
    expect(asked).toHaveLength(1)
    // It is not on this machine any more: the locked version is downloaded, and no other bytes.
    rmSync(join(home, 'packages'), { recursive: true })
    asked = []
    await loadAgent('@t/maze-ppo')
    expect(asked).toEqual([`${path}0.1.0`, file('0.1.0')])
    rmSync(join(home, 'packages'), { recursive: true })
    Object.assign(answers[file('0.1.0')], { body: answers[file('0.2.0')].body })
    Object.assign(answers[`${path}0.1.0`].body as object, {
      integrity: await integrityOf(answers[file('0.2.0')].body as Buffer),
    })
    await expect(loadAgent('@t/maze-ppo')).rejects.toMatchObject({ code: 'integrity_mismatch' })
    cwd.mockRestore()
  })
})

describe('a folder', () => {
  it('without an agent is named', async () => {
    await expect(loadAgent(join(home, 'nothing'))).rejects.toMatchObject({
      code: 'file_not_found',
      message: expect.stringContaining(join(home, 'nothing')),
    })
  })
})
