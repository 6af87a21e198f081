// @module-tag full
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { type Client, packagePath, publishPackage, versionPath } from '@agentgym/client'
import type { HostedCall, Run } from '@agentgym/contract'
import type { WorkerEvent } from '@agentgym/runtime'
import { packScenario } from '@agentgym/testkit/packages'
import { startServer, type TestServer } from '@agentgym/testkit/server'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const settings = { environments: 8, rollout_steps: 32, evaluation_episodes: 4, evaluate_every: 0 }
const scopes = ['packages:manage', 'training:start', 'training:view', 'agents:call']

type Worker = { events: WorkerEvent[]; process: ChildProcess }

/** A worker in a process of its own, with a token and nothing else. */
function startWorker(server: string, token: string): Worker {
  const entry = path.join(import.meta.dirname, '../../testkit/src/worker.process.ts')
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  const child = spawn(process.execPath, ['--no-node-snapshot', entry, server, token], { stdio: [...stdio] })
  const events: WorkerEvent[] = []
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => events.push(JSON.parse(line)))
  return { events, process: child }
}

async function stopWorker({ process: child }: Worker): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(100)
}

const post = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

/** The next call that the agent has to answer; where a busy machine's worker was too late, once more. */
async function callAgent(client: Client, name: string, body: object): Promise<HostedCall> {
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await client.send(`${packagePath(name)}/calls`, post(body))
      return (await response.json()) as HostedCall
    } catch (error) {
      if ((error as { code?: string }).code !== 'agent_unavailable' || attempt === 3) throw error
    }
  }
}

describe('an agent trained on a server', { timeout: 600_000 }, () => {
  let server: TestServer
  let worker: Worker
  let author: Client
  let token: string
  let operator: string
  const name = '@acme/balancer'
  const rememberer = '@acme/rememberer'

  beforeAll(async () => {
    server = await startServer()
    operator = (await server.signUp('operator', ['worker'])).token
    ;({ client: author, token } = await server.signUp('acme', scopes))
    worker = startWorker(server.url, operator)
    const stateOf = async (of: string, version: string) =>
      ((await (await author.send(versionPath(of, version))).json()) as { state: string }).state
    await publishPackage(author, await packScenario('cart-pole', { name: '@acme/cart-pole' }))
    await until(async () => (await stateOf('@acme/cart-pole', '1.0.0')) === 'published')
    for (const [as, memory] of [
      [name, {}],
      [rememberer, { memory: 'gru', memory_units: 8 }],
    ] as const) {
      const request = {
        scenario: '@acme/cart-pole',
        steps: 1_024,
        settings: { ...settings, ...memory },
        publish: { name: as, summary: 'Balances the pole.' },
      }
      const { id } = (await (await author.send('/v1/runs', post(request))).json()) as Run
      const lookUp = async () => (await (await author.send(`/v1/runs/${id}`)).json()) as Run
      await until(async () => !['queued', 'running'].includes((await lookUp()).state))
      const run = await lookUp()
      expect(run, JSON.stringify(run.error)).toMatchObject({ state: 'completed' })
      await until(async () => (await stateOf(as, '0.1.0')) === 'published')
    }
  }, 600_000)
  afterAll(async () => {
    await stopWorker(worker)
    await server.remove()
  })

  it('is called by its owner, and acts as its model does', async () => {
    const still = await callAgent(author, name, { observation: [0, 0, 0, 0] })
    expect(still).toMatchObject({ package: name, version: '0.1.0', because: 'own', trial_calls_left: null })
    expect(still.probabilities?.reduce((sum, each) => sum + each)).toBeCloseTo(1, 5)
    const likeliest = still.probabilities?.indexOf(Math.max(...(still.probabilities ?? [])))
    expect(still.action).toBe(likeliest)
    const labels = await actionLabels(author)
    expect(still.label).toBe(labels?.[Number(still.action)] ?? null)
    const again = await callAgent(author, name, { observation: [0, 0, 0, 0] })
    expect({ action: again.action, probabilities: again.probabilities }).toEqual({
      action: still.action,
      probabilities: still.probabilities,
    })
    // What the mask leaves out is never taken.
    for (const action of [0, 1]) {
      const mask = [action === 0, action === 1]
      const masked = await callAgent(author, name, { observation: [0, 0, 0, 0], action_mask: mask })
      expect(masked).toMatchObject({ action, probabilities: mask.map(Number) })
    }
  })

  it('answers many concurrent callers correctly', async () => {
    const alone = await Promise.all(
      [-1, 1].map((tilt) => callAgent(author, name, { observation: [0, 0, 0.2 * tilt, 0] })),
    )
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => callAgent(author, name, { observation: [0, 0, 0.2 * (i % 2 ? 1 : -1), 0] })),
    )
    answers.forEach(({ probabilities }, i) => {
      expect(probabilities).toEqual(alone[i % 2].probabilities)
    })
    expect(new Set(answers.map(({ id }) => id)).size).toBe(40)
  })

  it('decides for the client of OpenAI as it acts', async () => {
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: token, maxRetries: 0 })
    const labels = (await actionLabels(author)) ?? []
    const { label, probabilities } = await callAgent(author, name, { observation: [0, 0, 0.1, 0] })
    const question = (named: string, values: string[]) => ({
      ...{ type: 'choice' as const, name: named, instructions: 'Which?', choices: values.map((value) => ({ value })) },
    })
    const { model, answers } = await client.decisions.create({
      ...{ model: name, input: '[0, 0, 0.1, 0]' },
      questions: [question('push', labels), question('unknown', [...labels, 'jump'])],
    })
    expect(model).toBe(`${name}@0.1.0`)
    expect(answers).toMatchObject([
      { type: 'choice', name: 'push', choice: label },
      { type: 'refusal', name: 'unknown' },
    ])
    const [push] = answers
    if (push.type !== 'choice') throw new Error('no choice')
    for (const [i, { value, probability }] of push.probabilities.entries()) {
      expect(value).toBe(labels[i])
      expect(probability).toBeCloseTo(probabilities?.[i] ?? 0, 6)
    }
    const stranger = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 })
    await expect(
      stranger.decisions.create({ model: name, input: '[0]', questions: [question('push', labels)] }),
    ).rejects.toBeInstanceOf(OpenAI.AuthenticationError)
  })

  it('remembers, by its state, in an episode of MCP and in a conversation', async () => {
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: token, maxRetries: 0 })
    const labels = (await actionLabels(author)) ?? []
    const observations = [1, 2, 3].map((i) => [0.1 * i, -0.2, 0.05 * i, 0.3])
    const { episode_id } = await callTool('start_episode', {})
    const input: { role: 'user' | 'assistant'; content: string }[] = []
    let state: string | undefined
    for (const [step, observation] of observations.entries()) {
      const called = await callAgent(author, rememberer, { observation, ...(state && { state }) })
      state = called.state
      const decided = await callTool('act', { episode_id, step, observation })
      expect(decided).toMatchObject({ choice: called.label, next_step: step + 1 })
      expect(decided.probabilities.map(({ probability }) => probability)).toEqual(called.probabilities)
      input.push({ role: 'user', content: JSON.stringify(observation) })
      const choices = labels.map((value) => ({ value }))
      const { answers } = await client.decisions.create({
        ...{ model: rememberer, input: input as OpenAI.Decisions.DecisionCreateParams['input'] },
        questions: [{ type: 'choice', name: 'push', instructions: 'Which?', choices }],
      })
      expect(answers).toMatchObject([
        {
          choice: called.label,
          probabilities: (called.probabilities ?? []).map((p) => ({ probability: expect.closeTo(p, 6) })),
        },
      ])
      const completion = await client.chat.completions.create({ model: rememberer, messages: input })
      const said = completion.choices[0].message.content ?? ''
      expect(JSON.parse(said)).toEqual({ action: called.action, label: called.label })
      input.push({ role: 'assistant', content: said })
    }
    // Otherwise memory would say nothing.
    const alone = await callAgent(author, rememberer, { observation: observations[2] })
    expect(alone.state).not.toBe(state)
    expect(await callTool('end_episode', { episode_id })).toEqual({ ended: true })
  })

  it('reports errors in an observation', async () => {
    const refused = callAgent(author, name, { observation: [0, 0, 0] })
    await expect(refused).rejects.toMatchObject({
      code: 'observation_invalid',
      message: 'observation has 3 numbers where the space has 4.',
      hint: expect.stringContaining('box [4]'),
      data: { field: 'observation' },
    })
    const masked = callAgent(author, name, { observation: [0, 0, 0, 0], action_mask: [false, false] })
    await expect(masked).rejects.toMatchObject({ code: 'observation_invalid', data: { field: 'action_mask' } })
  })

  it('is served by the next worker if one was killed', async () => {
    worker.process.kill('SIGKILL')
    await once(worker.process, 'exit')
    const answer = callAgent(author, name, { observation: [0, 0, 0, 0] })
    worker = startWorker(server.url, operator)
    expect(await answer).toMatchObject({ package: name })
    await stopWorker(worker)
    const reported = worker.events.filter(({ event }) => event === 'calls_answered')
    expect(reported, JSON.stringify(worker.events)).toEqual([
      { event: 'calls_answered', subject: `${name}@0.1.0`, calls: 1, failed: 0 },
    ])
  })

  type Decided = { probabilities: { probability: number }[]; episode_id: string }

  /** Calls a tool of the agent with memory, by MCP. */
  async function callTool(verb: string, given: object): Promise<Decided> {
    const params = { name: `${verb}-acme_rememberer`, arguments: given }
    const response = await fetch(`${server.url}/mcp/${rememberer}`, {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        authorization: `Bearer ${token}`,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    })
    const text = await response.text()
    const { result } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text)
    if (result.isError) throw new Error(result.content[0].text)
    return result.structuredContent
  }

  /** Of the scenario's action space, in agent.json as published. */
  async function actionLabels(client: Client): Promise<string[] | undefined> {
    const version = (await (await client.send(versionPath(name, '0.1.0'))).json()) as { tarball: string }
    const folder = mkdtempSync(path.join(tmpdir(), 'agentgym-called-'))
    try {
      const file = path.join(folder, 'agent.tgz')
      writeFileSync(file, Buffer.from(await (await client.send(version.tarball)).arrayBuffer()))
      const tar = spawn('tar', ['-xzf', file, '-C', folder, 'package/agent.json'])
      await once(tar, 'exit')
      const manifest = JSON.parse(readFileSync(path.join(folder, 'package/agent.json'), 'utf8'))
      return manifest.scenario.action.labels
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
})
