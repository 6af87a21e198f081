// @module-tag full
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { loadAgent } from '@agentgym/agent'
import { type CliResult, runCli, runCliProcess } from '@agentgym/testkit/command-line'
import { pythonEnvironment, runPython } from '@agentgym/testkit/python'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const command = fileURLToPath(new URL('../../agentgym', import.meta.url))

let cwd: string
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'agentgym-environment-'))
})
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

const run = (words: string[]) => runCli([...words, '--json'], { cwd })
/** Episodes of 500 steps each, in Python. */
const few = ['--set', 'evaluation_episodes=20']
const last = ({ lines }: CliResult) =>
  lines.at(-1) as { event?: string; ok?: boolean; evaluation: { success: unknown } }
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('training on Gymnasium', { timeout: 300_000 }, () => {
  let python: string
  beforeAll(async () => {
    python = await pythonEnvironment('environments')
  })

  it('reaches 475 on CartPole by default settings; the agent plays it again, and runs in a program', async () => {
    const env = ['--env', 'gymnasium:CartPole-v1', '--python', python]
    const trained = await run(['train', ...env, '--target', '475', '--steps', '40000', ...few])
    expect(trained).toMatchObject({ status: 0 })
    expect(last(trained)).toMatchObject({ event: 'result', ok: true, evaluation: { success: { ok: true } } })
    const agent = join(cwd, 'agents/cartpole-v1')
    const manifest = JSON.parse(readFileSync(join(agent, 'agent.json'), 'utf8'))
    expect(manifest.scenario).toMatchObject({
      name: 'gymnasium:CartPole-v1',
      success: { return_mean: 475 },
      environment: { kind: 'gymnasium', id: 'CartPole-v1', versions: { gymnasium: '1.4.0' } },
    })
    // The environment is found by its id, and the same seeds give the same episodes.
    const evaluated = await run(['eval', 'cartpole-v1', '--python', python, '--episodes', '20'])
    expect(evaluated.lines.at(-1)).toEqual(manifest.evaluation)
    const loaded = await loadAgent(agent)
    // Falling to the right: push right.
    expect(loaded.act([0, 0, 0.1, 1], { deterministic: true }).action).toBe(1)
    loaded.dispose()
  })

  it('learns a toy-text environment with arguments, which the agent keeps', async () => {
    const env = ['--env', 'gymnasium:FrozenLake-v1', '--python', python, '--env-arguments', '{"is_slippery": false}']
    const trained = await run(['train', ...env, '--target', '0.99', '--steps', '30000'])
    expect(last(trained)).toMatchObject({ event: 'result', ok: true })
    const evaluated = await run(['eval', 'frozenlake-v1', '--python', python, '--episodes', '10'])
    expect(evaluated.lines.at(-1)).toMatchObject({ return_mean: 1, length_mean: 6 })
  })

  it('convolves images whose channels are the last axis, and agents act on such images', async () => {
    writeFileSync(
      join(cwd, 'image_envs.py'),
      `import gymnasium, numpy
from gymnasium import spaces

class Colors(gymnasium.Env):
    observation_space = spaces.Box(0, 255, (8, 10, 3), numpy.uint8)
    action_space = spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        row, column, self.color = (int(self.np_random.integers(n)) for n in (8, 10, 3))
        self.image = numpy.zeros((8, 10, 3), numpy.uint8)
        self.image[row, column, self.color] = 255
        return self.image, {}

    def step(self, action):
        return self.image, float(action == self.color), True, False, {}
`,
    )
    const settings = ['convolution=small', 'filters=8', 'hidden=32'].flatMap((one) => ['--set', one])
    const env = ['--env', 'python:image_envs:Colors', '--python', python]
    // The module is found in the working folder of the process.
    const trained = await runCliProcess(
      ['train', ...env, '--target', '0.9', '--steps', '40000', ...settings, ...few, '--json'],
      { cwd, environment: { AGENTGYM_HOME: join(cwd, 'home'), AGENTGYM_WITHOUT_WALLS: 'any' } },
    )
    expect(last(trained)).toMatchObject({ event: 'result', ok: true })
    const agent = join(cwd, 'agents/image_envs-colors')
    const { policy, scenario } = JSON.parse(readFileSync(join(agent, 'agent.json'), 'utf8'))
    expect(scenario.observation).toMatchObject({ shape: [8, 10, 3], channels: 'last' })
    expect(policy).toMatchObject({ observation: [{ shape: [3, 8, 10] }], convolution: { kind: 'small' } })
    const images = Array.from({ length: 30 }, (_, i) => {
      const at = { row: i % 8, column: (7 * i) % 10, color: i % 3 }
      return Array.from({ length: 8 }, (_, row) =>
        Array.from({ length: 10 }, (_, column) =>
          [0, 1, 2].map((color) => (row === at.row && column === at.column && color === at.color ? 255 : 0)),
        ),
      )
    })
    const loaded = await loadAgent(agent)
    const chosen = images.map((image) => loaded.act(image.flat(2), { deterministic: true }).action)
    loaded.dispose()
    expect(chosen.filter((action, i) => action === i % 3).length).toBeGreaterThan(24)
  })

  it('stops at Ctrl-C with a checkpoint, and resumes from it', async () => {
    const train = ['train', '--env', 'gymnasium:CartPole-v1', '--python', python, '--out', 'resumed', '--json']
    let interrupted = false
    const stopped = await runCli([...train, '--steps', '20000'], {
      cwd,
      onLine: (line, interrupt) => {
        if (interrupted || !line.includes('"progress"')) return
        interrupted = true
        interrupt()
      },
    })
    expect(stopped.lines.at(-1)).toMatchObject({
      error: { code: 'training_cancelled', data: { resume: expect.stringContaining('--env gymnasium:CartPole-v1') } },
    })
    const { lines } = await run([...train.slice(0, -1), '--resume'])
    expect(lines.at(-1)).toMatchObject({ event: 'result', steps: 18_432 })
    const counted = lines.flatMap((line) => {
      const { event, iteration } = line as { event: string; iteration: number }
      return event === 'progress' ? [iteration] : []
    })
    expect(counted[0]).toBeGreaterThan(1)
  })

  it('ends its Python process with the command, also when that is killed', async () => {
    const pids = join(cwd, 'pids')
    writeFileSync(
      join(cwd, 'own_envs.py'),
      `import os, gymnasium
def make():
    with open(${JSON.stringify(pids)}, "a") as file:
        file.write(f"{os.getpid()}\\n")
    return gymnasium.make("CartPole-v1")
`,
    )
    const words = ['train', '--env', 'python:own_envs:make', '--python', python, '--out', 'killed', '--json']
    const child = spawn(command, words, { cwd, env: { ...process.env, AGENTGYM_HOME: join(cwd, 'home') } })
    for await (const line of createInterface({ input: child.stdout })) if (line.includes('"progress"')) break
    const [pid] = readFileSync(pids, 'utf8').split('\n').map(Number)
    expect(isAlive(pid)).toBe(true)
    child.kill('SIGKILL')
    while (isAlive(pid)) await delay(50)
  })

  it('says what is missing', async () => {
    const bare = join(cwd, 'bare')
    await runPython('python3', ['-m', 'venv', '--without-pip', bare])
    const without = await run(['train', '--env', 'gymnasium:CartPole-v1', '--python', join(bare, 'bin/python')])
    expect(without.lines.at(-1)).toMatchObject({
      error: { code: 'setup_incomplete', hint: expect.stringContaining('-m pip install "gymnasium"') },
    })
    const none = await run(['train', '--env', 'gymnasium:CartPole-v1', '--python', join(cwd, 'nowhere')])
    expect(none.lines.at(-1)).toMatchObject({ error: { code: 'setup_incomplete' } })
    const unknown = await run(['train', '--env', 'gymnasium:CartPole-v99', '--python', python])
    expect(unknown.lines.at(-1)).toMatchObject({
      error: { code: 'environment_unreachable', message: expect.stringContaining('CartPole') },
    })
    expect(existsSync(join(cwd, 'agents/cartpole-v99'))).toBe(false)
  })
})

describe('training on an OpenEnv server', { timeout: 300_000 }, () => {
  let server: ChildProcess
  let address: string
  beforeAll(async () => {
    const python = await pythonEnvironment('openenv')
    const file = fileURLToPath(new URL('python/switches_server.py', import.meta.url))
    const started = spawn(python, [file], { stdio: ['ignore', 'pipe', 'inherit'] })
    server = started
    for await (const port of createInterface({ input: started.stdout })) {
      address = `http://127.0.0.1:${port}`
      break
    }
    // Importing FastMCP takes seconds of a processor.
  }, 300_000)
  afterAll(() => server.kill('SIGKILL'))

  it('learns which enumeration and which boolean to send', async () => {
    const env = ['--env', `openenv:${address}`, '--set', 'environments=8']
    const trained = await run(['train', ...env, '--target', '0.99', '--steps', '12000'])
    expect(last(trained)).toMatchObject({ event: 'result', ok: true })
    const { scenario } = JSON.parse(readFileSync(join(cwd, 'agents/switches/agent.json'), 'utf8'))
    expect(scenario.environment).toMatchObject({ kind: 'openenv', id: expect.any(String) })
    expect(scenario.observation.entries.map(({ name }: { name: string }) => name)).toEqual(['lamps', 'mood', 'words'])
    const again = await run(['eval', 'switches', '--env', `openenv:${address}`])
    expect(again.lines.at(-1)).toMatchObject({ return_mean: 1 })
    const nowhere = await run(['eval', 'switches'])
    expect(nowhere.lines.at(-1)).toMatchObject({
      error: { code: 'usage_invalid', hint: expect.stringContaining('--env openenv:http') },
    })
  })

  // It learns the task in 6,000 steps, which take FastMCP a minute of a processor.
  it('calls tools of MCP, and observes what they answer', async () => {
    const env = ['--env', `openenv:${address}/boxes`, '--set', 'environments=4', '--set', 'evaluation_episodes=4']
    const trained = await run(['train', ...env, '--steps', '512'])
    expect(last(trained)).toMatchObject({ event: 'result' })
    const { scenario } = JSON.parse(readFileSync(join(cwd, 'agents/boxes/agent.json'), 'utf8'))
    expect(scenario.observation.entries.map(({ name }: { name: string }) => name)).toEqual(['tool_name', 'result'])
    const [tool, ...parameters] = scenario.action.entries
    expect(tool.space.labels).toEqual(['look', 'open_box'])
    // An argument of free text that need not be given is left out.
    expect(parameters).toMatchObject([{ name: 'open_box', space: { entries: [{ name: 'name' }] } }])
  })

  it('says which sessions are too many', async () => {
    const env = ['--env', `openenv:${address}`, '--set', 'environments=32']
    const refused = await run(['train', ...env, '--out', 'refused'])
    expect(refused.lines.at(-1)).toMatchObject({
      error: { code: 'environment_failed', hint: expect.stringContaining('capacity') },
    })
  })
})
