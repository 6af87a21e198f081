import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readRepositoryFile } from '../checks/repository-files.ts'
import { prepareStack, type Stack, standIns } from './stack.ts'

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

/** What build-stand-ins.sh wrote; beside an engine: `sh infra/compose/engine.sh vitest run …`. */
const { AGENTGYM_STAND_INS: programs } = process.env
if (isLong && programs !== undefined)
  describe('what server and workers need, by Docker Compose', { timeout: 600_000 }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'agentgym-stack-'))
    let stack: Stack
    const states = async () =>
      (await stack.compose('ps', '--all', '--format', '{{.Service}} {{.State}} {{.Health}} {{.ExitCode}}'))
        .trim()
        .split('\n')
        .sort()
    const reach = async (expected: string[]) => {
      let last: string[] = []
      while (`${last}` !== `${expected}`) {
        await delay(500)
        last = await states()
      }
      expect(last).toEqual(expected)
    }
    beforeAll(async () => {
      stack = prepareStack(folder, { programs, hostname: 'localhost' })
    }, 600_000)
    afterAll(async () => {
      await stack?.compose('down', '--volumes', '--timeout', '20')
      const left = ['ps', '--all', '--quiet', '--filter', 'label=com.docker.compose.project']
      expect(execFileSync('docker', left, { encoding: 'utf8' })).toBe('')
      rmSync(folder, { recursive: true })
    }, 300_000)

    it('database and storage become healthy, and the bucket is made', async () => {
      await stack.compose('up', '--detach', '--pull', 'never', 'postgres', 'storage-bucket')
      await reach(['postgres running healthy 0', 'storage running healthy 0', 'storage-bucket exited  0'])
      expect(await stack.compose('logs', 'storage-bucket')).toContain('created bucket agentgym')
      const words = ['exec', '-T', 'postgres', 'psql', '--username', 'agentgym', '--tuples-only', '--command']
      expect((await stack.compose(...words, 'select current_database()')).trim()).toBe('agentgym')
    })

    it('proxy and Prometheus become healthy, and start again with what they had', async () => {
      await stack.compose('up', '--detach', '--pull', 'never', '--no-deps', 'proxy', 'prometheus')
      const all = [
        'postgres running healthy 0',
        'prometheus running healthy 0',
        'proxy running healthy 0',
        'storage running healthy 0',
        'storage-bucket exited  0',
      ]
      await reach(all)
      const authority = () => stack.compose('exec', '-T', 'proxy', 'cat', '/data/caddy/pki/authorities/local/root.crt')
      const before = await authority()
      expect(before).toContain('BEGIN CERTIFICATE')
      await stack.compose('restart', 'postgres', 'proxy', 'prometheus', 'storage')
      await reach(all)
      expect(await authority()).toBe(before)
    })
  })
