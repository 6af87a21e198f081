// @module-tag full
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { runCli } from '@agentgym/testkit/command-line'
import { type Asked, type Script, startLanguageModel } from '@agentgym/testkit/language-model'
import { pythonEnvironment, runPytest, runPython } from '@agentgym/testkit/python'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'

/** A machine that is busy with other tests takes its time. */
const patienceMs = 1_200_000
vi.setConfig({ testTimeout: patienceMs, hookTimeout: patienceMs })

/** Words, boards, numbers, tools without parameters, tools that point to items. Each with the number of its tools. */
const scenarios = { 'cart-pole': 1, 'grid-maze': 1, pendulum: 1, 'customer-support': 11, 'text-craft': 3 }
const names = Object.keys(scenarios) as (keyof typeof scenarios)[]

type Served = { url: string; stop(): Promise<void> }

/** Runs `agentgym env serve` until it is stopped, as by Ctrl-C. */
async function serve(...words: string[]): Promise<Served> {
  const listening = Promise.withResolvers<string>()
  let interrupt = () => {}
  const ended = runCli(['env', 'serve', ...words, '--port', '0', '--json'], {
    onLine(line, stop) {
      interrupt = stop
      listening.resolve(JSON.parse(line).url)
    },
  })
  ended.then(({ stderr }) => listening.reject(new Error(stderr)), listening.reject)
  const url = await listening.promise
  return {
    url,
    async stop() {
      interrupt()
      expect((await ended).status).toBe(0)
    },
  }
}

let folder: string
let server: Served
let small: Served
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'agentgym-env-serve-'))
  for (const name of names) {
    const { status, stderr } = await runCli(['env', 'manifest', name, '--out', join(folder, name)])
    expect([status, stderr]).toEqual([0, ''])
  }
  server = await serve(...names)
  small = await serve('cart-pole', '--max-sessions', '1')
})
afterAll(async () => {
  await Promise.all([server.stop(), small.stop()])
  rmSync(folder, { recursive: true })
})

const started: ChildProcess[] = []
afterAll(() => {
  for (const child of started) child.kill('SIGKILL')
})

/** As `serve`, in a process of its own, which can be killed. */
async function serveProcess(port: string): Promise<{ child: ChildProcess; url: string }> {
  const words = ['env', 'serve', 'cart-pole', '--port', port, '--json']
  const command = join(import.meta.dirname, '../../agentgym')
  const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  started.push(child)
  const [line] = await once(createInterface(child.stdout), 'line')
  return { child, url: JSON.parse(line).url }
}

const childrenOf = (pid: number): number[] =>
  (readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? []).map(Number)
const descendantsOf = (pid: number): number[] => childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)])
/** A process that has ended stays a zombie where no init process collects it. */
const lives = (pid: number) =>
  existsSync(`/proc/${pid}/stat`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))

async function post(url: string, body: object) {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) })
  return { status: response.status, body: await response.json() }
}

describe('agentgym env serve', () => {
  it('was killed: clients get errors that say so, its processes end, and another takes its port', async () => {
    const { child, url } = await serveProcess('0')
    const episode_id = 'lost'
    expect((await post(`${url}/reset`, { episode_id })).status).toBe(200)
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`)
    await once(socket, 'open')
    socket.send('{"type":"reset","data":{}}')
    await once(socket, 'message')
    const closed = once(socket, 'close')
    const ready = join(folder, 'ready')
    const playing = runPython(
      await pythonEnvironment('environments'),
      [join(import.meta.dirname, 'python/play_until_lost.py'), ready],
      { environment: { AGENTGYM_ENV_SERVER: url } },
    )
    while (!existsSync(ready)) await Promise.race([delay(50), playing])
    // It goes on until it is stopped.
    const settings = ['evaluate_every=0', 'checkpoint_every=1'].flatMap((one) => ['--set', one])
    const train = ['train', '--env', url, '--steps', '100000000', ...settings, '--json']
    const checkpoint = Promise.withResolvers<void>()
    const training = runCli(train, {
      cwd: folder,
      onLine: (line) => {
        if (line.includes('"checkpoint"')) checkpoint.resolve()
      },
    })
    await Promise.race([checkpoint.promise, training])
    const children = descendantsOf(child.pid as number)
    expect(children.length).toBeGreaterThan(0)

    child.kill('SIGKILL')
    await once(child, 'exit')
    const again = await serveProcess(new URL(url).port)
    expect(again.url).toBe(url)
    await closed
    for (const [code, message] of JSON.parse(await playing)) {
      expect([code, message]).toEqual(['server_unreachable', expect.stringContaining(`${url} closed the connection`)])
    }
    expect((await training).lines.at(-1)).toMatchObject({
      error: { code: 'environment_failed', message: expect.stringContaining('cart-pole') },
    })
    while (children.some(lives)) await delay(50)
    // Nothing of what it held is known to the next one, which says so.
    expect(await post(`${url}/step`, { action: { action: 'left' }, episode_id })).toMatchObject({
      status: 404,
      body: { error: { code: 'session_not_found' } },
    })
    let interrupted = false
    const resumed = await runCli([...train, '--resume'], {
      cwd: folder,
      onLine: (line, interrupt) => {
        // A second one would not wait for the iteration that is under way.
        if (!interrupted && line.includes('"progress"')) interrupt()
        interrupted ||= line.includes('"progress"')
      },
    })
    const progress = resumed.lines.find((line) => (line as { event: string }).event === 'progress')
    expect(progress).toMatchObject({ iteration: expect.toSatisfy((iteration: number) => iteration > 1) })
    expect(resumed.lines.at(-1)).toMatchObject({ error: { code: 'training_cancelled' } })
  })

  it('is in the image of a manifest, which starts as its Dockerfile says', async () => {
    const image = await startImage(join(folder, 'text-craft'), {})
    expect(image.port).not.toBe('')
    // OpenEnv's clients send no key, and come by whatever name the container has.
    const play = JSON.parse(readFileSync(join(folder, 'text-craft/validation/runtime.json'), 'utf8'))
    const first = await image.ask('/reset', play.reset)
    expect(first).toMatchObject({ status: 200, body: { done: false } })
    expect(await post(`${server.url}/envs/text-craft/reset`, play.reset)).toEqual(first)
    for (const action of play.actions.slice(0, 3)) {
      const step = { action, episode_id: play.reset.episode_id }
      expect(await image.ask('/step', step)).toEqual(await post(`${server.url}/envs/text-craft/step`, step))
    }
    expect((await image.ask('/metadata')).body).toMatchObject({ readme_content: expect.stringContaining('Text craft') })
    expect(await image.end()).toBe(0)
    const locked = await startImage(join(folder, 'text-craft'), { AGENTGYM_ENV_KEY: 'a secret' })
    expect((await locked.ask('/health')).status).toBe(401)
    expect((await locked.ask('/healthz')).status).toBe(200)
    expect(await locked.end()).toBe(0)
    // The same command gives the same bytes.
    const program = (name: string) => readFileSync(join(folder, name, 'server/server.mjs'))
    expect(program('text-craft').equals(program('pendulum'))).toBe(true)
  })

  // Two minutes: the validator starts a Python for each of its questions.
  if (isLong)
    it("passes OpenEnv's validator and graders, and its clients play", async () => {
      const served = names.map((name) => [
        name,
        { url: `${server.url}/envs/${name}`, folder: join(folder, name), tools: scenarios[name] },
      ])
      await runPytest(await pythonEnvironment('openenv'), ['tests/test_openenv_clients.py'], {
        environment: { AGENTGYM_SERVED: JSON.stringify(Object.fromEntries(served)), AGENTGYM_SMALL_SERVER: small.url },
      })
    })

  // verifiers fetches its harness from a package index while it runs.
  if (isLong)
    it('is an environment of verifiers, whose players write words and call tools', async () => {
      const python = await pythonEnvironment('verifiers')
      const model = await startLanguageModel(firstLegal)
      try {
        for (const name of ['text-craft', 'customer-support'] as const) {
          const traces = await evaluate(
            python,
            model.url,
            `${server.url}/envs/${name}`,
            join(folder, `verifiers-${name}`),
          )
          expect(traces).toHaveLength(2)
          for (const [index, { errors, rewards }] of traces.entries()) {
            expect(errors).toEqual([])
            expect(rewards.openenv_reward.score).toBeCloseTo(
              await firstLegalReturn(`${server.url}/envs/${name}`, index),
              9,
            )
          }
        }
        const [{ body }] = model.asked
        const [{ content }] = body.messages ?? []
        expect(JSON.parse(String(content)).action_schema.available_tools).toHaveLength(3)
      } finally {
        await model.close()
      }
    })
})

/**
 * Starts what the Dockerfile in `context` starts: its files alone, its variables alone, and as a user without rights, where this one
 * can become another.
 */
async function startImage(context: string, run: Record<string, string>) {
  const dockerfile = readFileSync(join(context, 'Dockerfile'), 'utf8')
  const instruction = (name: string) => new RegExp(`^${name} (.*)$`, 'm').exec(dockerfile)?.[1] ?? ''
  const app = mkdtempSync(join(tmpdir(), 'agentgym-image-'))
  cpSync(join(context, instruction('COPY').split(' ')[0]), app, { recursive: true })
  chmodSync(app, 0o755)
  const variables = Object.fromEntries(
    instruction('ENV')
      .split(' ')
      .map((pair) => pair.split('=')),
  )
  const [program, ...parameters] = JSON.parse(instruction('CMD'))
  expect([program, variables.HOST, variables.PORT]).toEqual(['node', '0.0.0.0', '8000'])
  const user = process.getuid?.() === 0 ? Number(instruction('USER')) : undefined
  // Ours may lie in a folder that only this user can enter, such as /root.
  const node = join(app, program)
  copyFileSync(process.execPath, node)
  chmodSync(node, 0o755)
  const child = spawn(node, parameters, {
    cwd: app,
    env: { PATH: '/usr/bin:/bin', ...variables, PORT: '0', ...run },
    stdio: ['ignore', 'pipe', 'inherit'],
    ...{ uid: user, gid: user },
  })
  started.push(child)
  const ended = once(child, 'exit').then(([status]) => {
    throw new Error(`the image's server ended with ${status} before it listened`)
  })
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), ended])
  ended.catch(() => {})
  const { port } = new URL(JSON.parse(line).url)
  return {
    port,
    /** By another name than this machine's own. */
    ask: (path: string, body?: object) =>
      new Promise<{ status: number; body: unknown }>((resolve, reject) => {
        const method = body === undefined ? 'GET' : 'POST'
        const sent = request({ port, path, method, headers: { host: 'cart-pole.internal' } }, async (response) => {
          const text = (await response.toArray()).join('')
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) })
        })
        sent.once('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
      }),
    async end() {
      child.kill('SIGTERM')
      const [status] = await once(child, 'exit')
      rmSync(app, { recursive: true })
      return status
    },
  }
}

type Trace = { errors: unknown[]; rewards: { openenv_reward: { score: number } } }
type Observation = { legal_actions?: string[] }

/** Two episodes by `vf-eval`, in the order of their tasks. */
async function evaluate(python: string, model: string, environment: string, out: string): Promise<Trace[]> {
  const config = `model = "scripted"
output_dir = ${JSON.stringify(out)}
max_concurrent = 1
[client]
base_url = ${JSON.stringify(model)}
api_key_var = "SCRIPTED_KEY"
[env.taskset]
id = "openenv"
base_url = ${JSON.stringify(environment)}
resets = [{split = "test", index = 0}, {split = "test", index = 1}]
[env.player.harness]
id = "null"
[env.player.runtime]
type = "subprocess"
`
  const file = `${out}.toml`
  writeFileSync(file, config)
  const program = 'from verifiers.v1.cli.eval.main import main; main()'
  await runPython(python, ['-c', program, '@', file, '--no-push', '--no-rich'], {
    environment: { SCRIPTED_KEY: 'key', PATH: [dirname(python), process.env.PATH].join(delimiter), HOME: folder },
    cwd: folder,
  })
  const [run] = readdirSync(out)
  const lines = readFileSync(join(out, run, 'traces.jsonl'), 'utf8')
    .trim()
    .split('\n')
  const episodes = lines.map((line) => JSON.parse(line))
  const indexOf = ({ task }: { task: { data: { reset: { index: number } } } }) => task.data.reset.index
  return episodes.sort((a, b) => indexOf(a) - indexOf(b)).map(({ traces }) => traces[0])
}

/** A model that takes the first legal action: as JSON where it is a call with an argument, else as a word. */
function firstLegal({ body }: Asked): Script {
  const { observation } = JSON.parse(String(body.messages?.at(-1)?.content))
  const action = actionOf(observation)
  return { text: typeof action === 'string' ? action : JSON.stringify(action) }
}

function actionOf({ legal_actions: [first] = [] }: Observation): string | object {
  const call = /^(\w+)\((\w+): ([^|)]*)/.exec(first)
  return call === null ? first : { tool_name: call[1], arguments: { [call[2]]: call[3].trim() } }
}

/** The return of the same player over HTTP, on a scenario of tools. */
async function firstLegalReturn(url: string, index: number): Promise<number> {
  type Turn = { observation: Observation; reward: number | null; done: boolean }
  const ask = async (path: string, body: object) => (await post(url + path, body)).body as Turn
  const episode_id = `alone-${index}`
  let turn = await ask('/reset', { split: 'test', index, episode_id })
  let sum = 0
  while (!turn.done) {
    const action = actionOf(turn.observation)
    const call = typeof action === 'string' ? { tool_name: action, arguments: {} } : action
    turn = await ask('/step', { action: call, episode_id })
    sum += turn.reward ?? 0
  }
  return sum
}
