// @module-tag full

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCli } from '@agentgym/testkit/command-line'
import { type LanguageModelServer, startLanguageModel } from '@agentgym/testkit/language-model'
import { freePort } from '@agentgym/testkit/ports'
import { pythonEnvironment, runPython } from '@agentgym/testkit/python'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { repositoryRoot } from '../checks/repository-files.ts'

type Message = {
  role: string
  content: string
  tool_calls?: { id: string; function: { name: string; arguments: string } }[]
  tool_call_id?: string
}
type Demonstration = { index: number; messages: Message[]; reward: number; steps: number }

const folder = mkdtempSync(join(tmpdir(), 'agentgym-trainers-'))
const scenarios = ['text-craft', 'returns-desk', 'grid-maze']
/** What the scripted model says next. */
const script: string[] = []
let llm: LanguageModelServer
/** Where Agent Lightning's server will listen. */
let gatewayPort: number
let url: string
let stop: () => void
let served: Promise<unknown>

beforeAll(async () => {
  llm = await startLanguageModel(() => ({ text: script.shift() ?? '' }))
  const listening = Promise.withResolvers<string>()
  gatewayPort = await freePort()
  const models = [llm.url, `http://127.0.0.1:${gatewayPort}`].flatMap((address) => ['--allow-model', address])
  served = runCli(['env', 'serve', ...scenarios, '--port', '0', ...models, '--json'], {
    cwd: folder,
    onLine: (line, interrupt) => {
      stop = interrupt
      listening.resolve((JSON.parse(line) as { url: string }).url)
    },
  })
  url = await listening.promise
}, 120_000)
afterAll(async () => {
  stop?.()
  await served
  await llm.close()
  rmSync(folder, { recursive: true, maxRetries: 5 })
})

describe.each(scenarios)('conversations of %s', { timeout: 120_000 }, (name) => {
  it.each([[], ['--tools']])('score the same when a language model says them again %j', async (...flags) => {
    const file = join(folder, `${name}-${flags.length}.jsonl`)
    const { status, stderr } = await runCli(
      ['export', 'sft', name, '--out', file, '--episodes', '2', ...flags.flat()],
      { cwd: folder },
    )
    expect([status, stderr]).toEqual([0, ''])
    const shown = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Demonstration)
    expect(shown.map(({ index }) => index)).toEqual([0, 1])
    for (const { index, messages, reward } of shown) {
      expect(messages.slice(0, 2).map(({ role }) => role)).toEqual(['system', 'user'])
      const said = messages.filter(({ role }) => role === 'assistant')
      script.push(...said.map(({ content, tool_calls }) => (tool_calls ? callAsJson(tool_calls[0].function) : content)))
      const rollout = await roll({ env: name, ids: [index], max_round: 500 })
      expect(rollout.reward).toBeCloseTo(reward, 6)
      // The model reads in training what it reads in a rollout.
      const read = ({ messages: all }: { messages: Message[] }) =>
        all.filter(({ role }) => role === 'user' || role === 'tool').map(({ content }) => content)
      const ended = ({ content }: Message) => content?.endsWith('The episode has ended.')
      expect(read(rollout)).toEqual(read({ messages: messages.filter((message) => !ended(message)) }))
    }
  })
})

it('leaves out episodes that return less, and says which agents and scenarios fit', async () => {
  const file = join(folder, 'best.jsonl')
  const best = await runCli(
    ['export', 'sft', 'text-craft', '--out', file, '--episodes', '4', '--least-return', '1e9'],
    { cwd: folder },
  )
  expect(best.stdout).toContain('Wrote 0 conversations')
  expect(best.stdout).toContain('left out 4')
  const none = await runCli(['export', 'sft', 'text-craft', '--out', file, '--player', 'nobody'], { cwd: folder })
  expect([none.status, none.stderr]).toEqual([2, expect.stringContaining('o agent "nobody"')])
})

// Its environment is large, and the long form has it anyway.
if (isLong)
  it('verifiers loads the package that was written, with its tasks and its server', { timeout: 600_000 }, async () => {
    const out = join(folder, 'package')
    await runCli(['export', 'verifiers', 'text-craft', '--out', out, '--url', url, '--tasks', '5'], { cwd: folder })
    const source = `
import json, tomllib
from verifiers.v1.utils.loaders import taskset_class, taskset_config_type
name = "agentgym-text-craft"
config = tomllib.load(open("eval.toml", "rb"))["env"]["taskset"]
tasks = lambda given: [(task.data.base_url, task.data.reset) for task in taskset_class(name)(taskset_config_type(name).model_validate(given))]
prime = tomllib.load(open("prime-rl.toml", "rb"))["orchestrator"]["train"]["source"][0]["env"]["taskset"]
print(json.dumps({"train": tasks(prime), "test": tasks(config)}))`
    const run = { cwd: out, environment: { PYTHONPATH: out } }
    const { train, test } = JSON.parse(await runPython(await pythonEnvironment('verifiers'), ['-c', source], run))
    expect(train).toEqual([0, 1, 2, 3, 4].map((index) => [`${url}/envs/text-craft`, { split: 'train', index }]))
    expect(test).toHaveLength(64)
    expect(test[0][1]).toEqual({ split: 'test', index: 0 })
  })

it("TRL's environments are made of the scenario's tools, and fail without a score", { timeout: 600_000 }, async () => {
  const python = await pythonEnvironment('openenv')
  const play = async (name: string, calls: [string, object][]) =>
    JSON.parse(
      await runPython(python, [
        join(repositoryRoot, 'sdk/python/tests/trl_environment.py'),
        `${url}/envs/${name}`,
        JSON.stringify(calls),
      ]),
    )
  const desk = await play('returns-desk', [
    ['find_orders', {}],
    ['refund', { order: 'nothing', percent: 10, reason: 'late' }],
  ])
  expect(Object.keys(desk.tools)).toEqual(['find_orders', 'refund', 'replace'])
  expect(desk.tools.refund).toContain('reason: reason (choices: ["broken", "late", "unwanted"])')
  expect(desk.annotations.refund).toContain('percent: int')
  expect(desk.prompt[0].content).toContain('Returns desk')
  expect(desk.said[1]).toContain('nothing')
  expect([desk.again, desk.reward]).toEqual([true, expect.any(Number)])
  const maze = await play('grid-maze', [['act', { action: 'right' }]])
  expect(Object.keys(maze.tools)).toEqual(['act'])
})

it("Agent Lightning's trainer gets an episode's return, and no reward of a failed one", {
  timeout: 600_000,
}, async () => {
  const file = join(folder, 'lightning.jsonl')
  await runCli(['export', 'sft', 'text-craft', '--out', file, '--episodes', '2'], { cwd: folder })
  const shown = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Demonstration)
  const lines = shown.map(({ messages }) =>
    messages.filter(({ role }) => role === 'assistant').map(({ content }) => content),
  )
  script.push(...lines.flat(), ...lines[1])
  const row = (task: number) => ({ data_id: `text-craft/train/${task}`, env: 'text-craft', split: 'train', task })
  const given = [row(0), row(99_999_999), row(1)]
  const output = await runPython(await pythonEnvironment('agentlightning'), [
    join(repositoryRoot, 'sdk/python/tests/agent_lightning.py'),
    ...[String(gatewayPort), url, llm.url, JSON.stringify(given)],
  ])
  const { rollouts, job, refused } = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '') as Lightning
  const requests = (i: number) => Array.from({ length: lines[i].length }, () => 'model_request')
  const [first, failed, second] = given.map(({ data_id }) => rollouts.find((each) => each.data_id === data_id))
  for (const [i, rollout] of [first, second].entries()) {
    expect(rollout).toMatchObject({ state: 'succeeded', reward: expect.closeTo(shown[i].reward, 6) })
    expect(rollout?.events).toEqual([...requests(i), 'agentgym_episode', 'reward'])
    expect(rollout?.episode).toMatchObject({ steps: shown[i].steps, end: 'terminated' })
  }
  expect(failed).toMatchObject({ state: 'failed', reward: null, events: [] })
  expect(job.at(-1)).toEqual({
    type: 'reward',
    data: {
      value: expect.closeTo(shown[1].reward, 6),
      source: 'agent',
      message: `terminated after ${shown[1].steps} steps`,
    },
  })
  expect(refused).toEqual([
    ['server_unreachable', expect.stringContaining('401')],
    ['server_unreachable', expect.stringContaining('Rollout not found')],
    ['reward_not_finite', expect.stringContaining('nan')],
    ['server_unreachable', expect.stringContaining('efused')],
  ])
})

type Lightning = {
  rollouts: {
    data_id: string
    state: string
    reward: number | null
    events: string[]
    episode: { steps: number; end: string } | null
  }[]
  job: { type: string; data: object }[]
  refused: [code: string, message: string][]
}

type Trained = { losses: number[]; grpo: { loss: number; reward: number }[] }

// torch is gigabytes.
if (isLong)
  it('TRL fine-tunes a language model on conversations and reinforces it in the scenario', {
    timeout: 3_600_000,
  }, async () => {
    const file = join(folder, 'conversations.jsonl')
    await runCli(['export', 'sft', 'text-craft', '--out', file, '--episodes', '40', '--tools'], { cwd: folder })
    const script = join(repositoryRoot, 'sdk/python/tests/train_language_model.py')
    const parameters = [script, `${url}/envs/text-craft`, file, folder]
    const output = await runPython(await pythonEnvironment('trl'), parameters)
    const { losses, grpo } = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '') as Trained
    expect(losses.at(-1)).toBeLessThan(losses[0] / 4)
    // So small a model calls no tool yet: what is shown is that rollouts, rewards and updates run.
    expect(grpo).toHaveLength(2)
    for (const { loss, reward } of grpo) for (const value of [loss, reward]) expect(value).toBeTypeOf('number')
  })

function callAsJson({ name, arguments: given }: { name: string; arguments: string }): string {
  return JSON.stringify({ tool: name, arguments: JSON.parse(given) })
}

async function roll(given: object): Promise<{ reward: number; messages: Message[] }> {
  const body = JSON.stringify({ model: 'scripted', base_url: llm.url, ...given })
  const response = await fetch(`${url}/rollouts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  const answer = (await response.json()) as { rollouts: { reward: number; messages: Message[] }[] }
  if (!response.ok) throw new Error(JSON.stringify(answer))
  return answer.rollouts[0]
}
