import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FakeRunpod, startDstack, startRunpod } from '@agentgym/testkit/clouds'
import { runCli } from '@agentgym/testkit/command-line'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { queuedRun, type RunServer, recordedRunId, startRunServer } from './run-server.ts'

let folder: string
let cloud: FakeRunpod
let server: RunServer

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'agentgym-gpus-'))
  cloud = await startRunpod()
  server = await startRunServer()
})
afterEach(async () => {
  rmSync(folder, { recursive: true })
  await Promise.all([cloud.close(), server.close()])
})

const agentgym = (words: string[], environment: Record<string, string> = {}) =>
  runCli(words, {
    cwd: folder,
    environment: {
      ...{ HOME: folder, AGENTGYM_SERVER: server.url, AGENTGYM_TOKEN: 'agt_x' },
      ...{ RUNPOD_API_KEY: cloud.key, AGENTGYM_RUNPOD_URL: cloud.url },
      ...environment,
    },
  })

const codeOf = ({ stdout, stderr }: { stdout: string; stderr: string }) => /"code":"(\w+)"/.exec(stdout + stderr)?.[1]

it('lists offers of all providers, cheapest first', async () => {
  const dstack = await startDstack()
  const both = { DSTACK_SERVER_URL: dstack.url, DSTACK_TOKEN: dstack.token }
  const { lines, status } = await agentgym(['--json', 'gpus'], both)
  expect(status).toBe(0)
  expect(lines).toMatchObject([
    {
      problems: [],
      offers: [
        {
          provider: 'runpod',
          gpu: 'RTX A4000',
          memory_gb: 16,
          price_minor_per_hour: 17,
          currency: 'USD',
          where: 'EU-RO-1',
        },
        { provider: 'dstack', gpu: 'T4' },
        { provider: 'dstack', gpu: 'L4' },
        { provider: 'runpod', gpu: 'RTX 4090' },
        { provider: 'dstack', gpu: 'A10G' },
        { provider: 'runpod', gpu: 'H100 SXM' },
      ],
    },
  ])
  const { stdout } = await agentgym(['gpus', 'list', '--gpu-memory', '40', '--provider', 'runpod'], both)
  expect(stdout).toMatch(/H100 SXM\s+80 GB\s+\$2\.69\s+runpod\s+US-TX-3/)
  expect(stdout).not.toContain('A4000')
  // One that does not answer hides no other.
  await dstack.close()
  const partly = await agentgym(['--json', 'gpus'], both)
  expect([partly.status, partly.lines]).toMatchObject([
    0,
    [{ problems: [{ provider: 'dstack' }], offers: { length: 3 } }],
  ])
})

it('says what is missing or wrong', async () => {
  const none = await agentgym(['--json', 'gpus'], { RUNPOD_API_KEY: '' })
  expect([none.status, codeOf(none)]).toEqual([2, 'compute_credentials_missing'])
  const named = await agentgym(['--json', 'gpus', '--provider', 'dstack'])
  expect([named.status, codeOf(named)]).toEqual([2, 'compute_credentials_missing'])
  expect(codeOf(await agentgym(['--json', 'gpus', '--provider', 'lambda']))).toBe('config_invalid')
  expect(codeOf(await agentgym(['--json', 'gpus', '--gpu-memory', '-1']))).toBe('config_invalid')
  const wrong = await agentgym(['--json', 'gpus', '--provider', 'runpod'], { RUNPOD_API_KEY: 'wrong' })
  expect([wrong.status, codeOf(wrong)]).toEqual([1, 'compute_refused'])
  const { stdout } = await agentgym(['gpus', '--gpu-memory', '900'])
  expect(stdout).toContain('No GPU that fits')
})

async function rentFor(run: string, owner = server.url) {
  await fetch(`${cloud.url}/v2/pods`, {
    method: 'POST',
    headers: { authorization: `Bearer ${cloud.key}` },
    body: JSON.stringify({
      ...{ name: `agentgym-${run.replaceAll('-', '')}`, image: 'worker', gpu: { id: 'NVIDIA RTX A4000', count: 1 } },
      env: { AGENTGYM_RENTED_FOR: owner },
    }),
  })
}

it('sweeps the worker of a run that is over, and nothing else', async () => {
  await rentFor(recordedRunId)
  await rentFor('11111111-2222-4333-8444-555555555555')
  await rentFor('11111111-2222-4333-8444-666666666666', 'https://other.example.com')
  const before = await agentgym(['--json', 'gpus', 'sweep'])
  expect(before.lines).toMatchObject([
    { workers: [{ run: recordedRunId, reason: 'run_open' }, { reason: 'run_unknown' }, { reason: 'other_server' }] },
  ])
  expect(cloud.rented()).toHaveLength(3)
  server.change(queuedRun({ state: 'cancelled' }))
  const after = await agentgym(['gpus', 'sweep'])
  expect(after.stdout).toContain('ended: its run is over')
  expect(cloud.rented()).toHaveLength(2)
})
