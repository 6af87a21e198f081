import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type AgentManifest, agentManifestSchema, type LeasedTraining, resolveTrainingPlan } from '@agentgym/contract'
import { writeTarball } from '@agentgym/contract/tarball'
import { type BuiltScenario, buildScenario } from '../../sandbox/build-scenario.ts'
import { publishedSourceMap } from '../../sandbox/source-place.ts'
import { validManifest, withFolder } from '../../sandbox/testing/scenario-folder.ts'
import { runWorker, type WorkerOptions } from '../run-worker.ts'
import { unpackPackage } from '../tarball.ts'
import type { WorkerEvent } from '../worker-event.ts'
import type { JobServer } from './job-server.ts'
import type { StoredJob } from './stored-job.ts'

/** A walk on a line; `slow` makes its steps take about a tenth of a millisecond more. */
const walk = (extra: string) => `
import { box, defineScenario, discrete } from '@agentgym/scenario'
export default defineScenario({
  observation: box({ shape: [2] }), action: discrete({ n: 2 }), maxSteps: 9,
  reset({ rng }) { return { x: rng.normal(), t: 0 } },
  step(state, action, { rng }) {
    ${extra}
    state.t += 1
    state.x += action - 0.5
    return { reward: -Math.abs(state.x), terminated: rng() < 0.1 }
  },
  observe(state) { return [state.x, state.t / 9] },
})
`
export const slowly = 'let sum = 0; for (let i = 0; i < 300_000; i++) sum += i % 7; state.sum = sum'

export type PackedScenario = { scenario: BuiltScenario; tarball: Uint8Array; integrity: string }

/** A published scenario's tarball, with `extra` as the first lines of its `step`. */
export async function packedScenario(extra = ''): Promise<PackedScenario> {
  const agentgym = { ...validManifest, entry: 'src/index.js' }
  const manifest = { name: '@t/walk', version: '1.2.3', license: 'MIT', agentgym }
  return withFolder({ 'package.json': manifest, 'src/index.js': walk(extra) }, async (folder) => {
    const scenario = await buildScenario(folder)
    const map = publishedSourceMap(scenario, new Set(['src/index.js'])) ?? ''
    const { bytes, integrity } = await writeTarball([
      { path: 'package.json', bytes: await readFile(path.join(folder, 'package.json')) },
      { path: 'dist/scenario.js', bytes: Buffer.from(scenario.source) },
      { path: 'dist/scenario.js.map', bytes: Buffer.from(map) },
    ])
    return { scenario, tarball: bytes, integrity }
  })
}

export function scenarioOfJob(server: JobServer, { scenario, tarball, integrity }: PackedScenario) {
  const { name, version } = scenario.package
  return { name, version, hash: scenario.hash, integrity, tarball_url: server.file(tarball) }
}

/** Of 80 steps an iteration; twelve iterations unless told. */
export function addTraining(
  server: JobServer,
  packed: PackedScenario,
  {
    settings = {},
    ...run
  }: { settings?: Record<string, unknown> } & Partial<Omit<LeasedTraining['run'], 'settings' | 'scenario'>> = {},
): StoredJob {
  const small = { steps: 960, environments: 4, rollout_steps: 20, evaluation_episodes: 4, ...settings }
  return server.add({
    kind: 'train',
    run: {
      scenario: scenarioOfJob(server, packed),
      algorithm: 'ppo',
      settings: resolveTrainingPlan({}, { settings: small }).settings,
      seed: 5,
      attempt: 1,
      from: null,
      checkpoint: null,
      pause_at: null,
      trajectories_every: 0,
      publish: null,
      budget: { budget_minor: null, price_milliseconds: 0, price_minor_per_hour: 0 },
      ...run,
    },
  })
}

export type FixtureWorker = {
  events: WorkerEvent[]
  stop(): void
  abandon(): void
  ended: Promise<void>
  /** Resolves with the first event of that name. */
  until<Name extends WorkerEvent['event']>(name: Name): Promise<Extract<WorkerEvent, { event: Name }>>
}

/** A worker in this process. */
export function startWorker(server: JobServer, options: Partial<WorkerOptions> = {}): FixtureWorker {
  const events: WorkerEvent[] = []
  const stop = new AbortController()
  const abandon = new AbortController()
  const listeners = new Set<() => void>()
  const ended = runWorker({
    server: server.url,
    token: 'agt_test',
    kinds: ['check', 'evaluate', 'train'],
    slots: 1,
    stop: stop.signal,
    signal: abandon.signal,
    pollMs: 20,
    onEvent: (event) => {
      events.push(event)
      for (const listener of listeners) listener()
    },
    ...options,
  })
  const until = <Name extends WorkerEvent['event']>(name: Name) => {
    const { promise, resolve, reject } = Promise.withResolvers<Extract<WorkerEvent, { event: Name }>>()
    const look = () => {
      const found = events.find(({ event }) => event === name)
      if (found === undefined) return
      listeners.delete(look)
      resolve(found as Extract<WorkerEvent, { event: Name }>)
    }
    listeners.add(look)
    look()
    const never = () => reject(new Error(`the worker ended without ${name}: ${JSON.stringify(events)}`))
    ended.then(never, never)
    return promise
  }
  return { events, ended, until, stop: () => stop.abort(), abandon: () => abandon.abort() }
}

/** Lets a worker do what waits, until it has nothing left; gives its events. */
export async function workThrough(server: JobServer, options: Partial<WorkerOptions> = {}): Promise<WorkerEvent[]> {
  const worker = startWorker(server, options)
  await worker.until('waiting')
  worker.stop()
  await worker.ended
  return worker.events
}

/** agent.json in a run's tarball. */
export async function agentOf({
  agent,
}: Pick<StoredJob, 'agent'>): Promise<AgentManifest & { package: Record<string, unknown> }> {
  if (agent === null) throw new Error('the run has no agent')
  const folder = await mkdtemp(path.join(tmpdir(), 'agentgym-agent-'))
  try {
    await unpackPackage(agent, folder, { 'agent.json': 2 ** 20, 'package.json': 2 ** 20 })
    const read = async (file: string) => JSON.parse(await readFile(path.join(folder, file), 'utf8'))
    return { ...agentManifestSchema.parse(await read('agent.json')), package: await read('package.json') }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Process ids of the trainers below a process. */
export function trainersOf(parent = process.pid): number[] {
  return processesRunning('training.process', parent)
}

/** Process ids below a process whose command line names a file, zombies left out. */
export function processesRunning(file: string, parent = process.pid): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const [state, parentPid] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
        if (state === 'Z' || Number(parentPid) !== parent) return false
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(file)
      } catch {
        return false
      }
    })
}
