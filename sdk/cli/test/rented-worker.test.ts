// @module-tag full
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type FakeRunpod, startRunpod } from '@agentgym/testkit/clouds'
import { writeReadme } from '@agentgym/testkit/command-line'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { type GpuProxy, installGpu, startGpuProxy } from './gpu-machine.ts'
import { openRegistry, type Person, type Registry } from './registry-people.ts'

const command = fileURLToPath(new URL('../../../agentgym', import.meta.url))

let registry: Registry
let ann: Person
let workerToken: string
let cloud: FakeRunpod
/** The server as rented machines reach it. */
let reached: GpuProxy
/** Containers of the fake's pods: real workers. */
let containers: ChildProcess[] = []

const settings = () => ({
  ...{ RUNPOD_API_KEY: cloud.key, AGENTGYM_RUNPOD_URL: cloud.url },
  ...{ AGENTGYM_WORKER_TOKEN: workerToken, AGENTGYM_WORKER_IMAGE: 'agentgym-worker' },
})
const rented = ['--gpu', 'runpod', '--gpu-server']

beforeAll(async () => {
  registry = await openRegistry({}, ['--no-worker'])
  ann = registry.person('ann')
  await ann.join()
  const token = await ann.run(['token', 'create', 'workers', '--username', 'ann', '--scope', 'worker'])
  workerToken = token.stdout.trim()
  await ann.run(['scenario', 'init', 'puck', '--yes', '--name', '@ann/puck'])
  writeReadme(join(ann.work, 'puck'))
  const checker = spawn(command, ['worker', '--kinds', 'check'], {
    env: {
      ...process.env,
      ...{ AGENTGYM_SERVER: registry.server.url, AGENTGYM_TOKEN: workerToken, AGENTGYM_WITHOUT_WALLS: 'any' },
    },
    stdio: 'ignore',
  })
  const published = await ann.run(['scenario', 'publish', 'puck', '--json'])
  expect(published.status).toBe(0)
  checker.kill('SIGKILL')
  reached = await startGpuProxy(registry.server.url)
  installGpu(join(registry.folder, 'bin'))
}, 240_000)
afterAll(async () => {
  await reached?.close()
  await registry?.close()
})

beforeEach(async () => {
  cloud = await startRunpod()
  cloud.started = ({ id, env }, args) => {
    const container = spawn(command, args, {
      env: {
        ...{
          PATH: `${join(registry.folder, 'bin')}:${process.env.PATH}`,
          HOME: registry.folder,
          AGENTGYM_HOME: join(registry.folder, id),
        },
        ...{ ...env, AGENTGYM_WITHOUT_WALLS: 'any' },
        ...{ RUNPOD_POD_ID: id, RUNPOD_API_KEY: cloud.key, AGENTGYM_RUNPOD_URL: cloud.url },
      },
      stdio: 'ignore',
    })
    containers.push(container)
  }
})
afterEach(async () => {
  for (const container of containers) container.kill('SIGKILL')
  containers = []
  await cloud.close()
})

const train = (...words: string[]) => ['train', '@ann/puck', ...rented, reached.url, '--yes', '--json', ...words]

it('trains its run, which needs a GPU, on a rented machine and no other, downloads the agent, and leaves no machine', {
  timeout: 120_000,
}, async () => {
  const other = await ann.run(['train', '@ann/puck', '--remote', '--json', '--steps', '4096'])
  const { id } = other.lines[0] as { id: string }
  const { lines, status, stderr } = await ann.run(
    train('--steps', '2048', '--set', 'evaluation_episodes=20', '--gpu-memory', '16'),
    settings(),
  )
  expect([status, stderr]).toEqual([0, ''])
  const named = (event: string) => lines.filter((line) => (line as { event: string }).event === event)
  expect(named('result')).toMatchObject([{ ok: true, agent: join(ann.work, 'agents', 'puck') }])
  expect(named('rental_ended')).toHaveLength(1)
  expect(named('run')[0]).toMatchObject({ gpu: { count: 1, memory_bytes: 16e9 } })
  expect(cloud.made).toHaveLength(1)
  expect(cloud.rented()).toEqual([])
  const [shown] = (await ann.run(['runs', 'show', id, '--json'])).lines
  expect(shown).toMatchObject({ state: 'queued' })
  await ann.run(['runs', 'cancel', id])
})

it('deletes its own pod when nobody else is left to do it', { timeout: 120_000 }, async () => {
  const spawned = Promise.withResolvers<void>()
  const { started } = cloud
  cloud.started = (pod, args) => {
    // Idle after a second rather than two minutes.
    started?.(
      pod,
      args.map((word, index) => (args[index - 1] === '--exit-when-idle' ? '1' : word)),
    )
    spawned.resolve()
  }
  const child = startCommand(train('--steps', '2048', '--out', 'left'))
  await spawned.promise
  child.kill('SIGKILL')
  await expect.poll(() => cloud.rented(), { timeout: 90_000, interval: 200 }).toEqual([])
  const [list] = (await ann.run(['runs', 'list', '--json'])).lines
  expect((list as { runs: { state: string }[] }).runs[0]).toMatchObject({ state: 'completed' })
})

type Moment = [request: number, when: 'before' | 'after']

/** Kills the command at its request to the provider; then every pod has a run, every run gets one worker, and a sweep none. */
async function killAt([at, when]: Moment): Promise<void> {
  // No containers: this is about pods.
  cloud.started = undefined
  const first = cloud.requests.length
  const made = cloud.made.length
  const child = startCommand(train('--out', `killed-${at}-${when}`))
  const ended = new Promise((resolve) => child.once('exit', resolve))
  cloud.fault = async (_, number) => {
    if (number - first !== at) return undefined
    child.kill('SIGKILL')
    await ended
    return when === 'before' ? 'request_lost' : 'answer_lost'
  }
  await ended
  cloud.fault = undefined
  expect(cloud.made.length - made).toBeLessThanOrEqual(1)
  const [{ runs }] = (await ann.run(['runs', 'list', '--state', 'queued', '--json'])).lines as [
    { runs: { id: string }[] },
  ]
  const names = runs.map(({ id }) => `agentgym-${id.replaceAll('-', '')}`)
  expect(cloud.rented().filter(({ name }) => !names.includes(name))).toEqual([])
  for (const { id } of runs) {
    await ann.run(['gpus', 'rent', id, '--yes', '--json', '--gpu-server', registry.server.url], settings())
    expect(cloud.made.length - made).toBe(1)
    await ann.run(['runs', 'cancel', id])
  }
  await ann.run(['gpus', 'sweep', '--json'], settings())
  expect([at, when, cloud.rented()]).toEqual([at, when, []])
}

it(
  'is rented once, and does not outlive its run, when the command is killed with the answer under way',
  {
    timeout: 60_000,
  },
  () => killAt([4, 'after']),
)

// The catalog, the sweep, the search for the name, the order, its check, and the first look while the run is followed.
const moments = [1, 2, 3, 4, 5, 6].flatMap((at): Moment[] => [
  [at, 'before'],
  [at, 'after'],
])
if (isLong)
  it('is so wherever the command is killed', { timeout: 300_000 }, async () => {
    for (const moment of moments) await killAt(moment)
  })

function startCommand(words: string[]): ChildProcess {
  const environment = { AGENTGYM_HOME: ann.home, AGENTGYM_SERVER: registry.server.url, ...settings() }
  const child = spawn(command, words, { cwd: ann.work, env: { ...process.env, ...environment }, stdio: 'ignore' })
  containers.push(child)
  return child
}
