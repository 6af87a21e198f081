// @module-tag full
import type { VectorReply } from '@agentgym/contract/protocols'
import type { BuiltScenario } from '@agentgym/runtime'
import { type EnvServer, envServer, listenEnvironments, openEnvironment } from '@agentgym/runtime/env-server'
import { VectorClient, VectorRefusal } from '@agentgym/testkit/vector-client'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { removeFixtures, scenarioOf, toolScenarioOf } from './scenario-fixture.ts'

type Served = { url: string; server: EnvServer; close(): Promise<void> }

const open: Served[] = []

async function serve(...scenarios: BuiltScenario[]): Promise<Served> {
  const environments = await Promise.all(scenarios.map((scenario) => openEnvironment(scenario)))
  const server = envServer(environments, { most: 8, idleMs: 60_000 })
  const listening = await listenEnvironments(server.app, { host: '127.0.0.1', port: 0 })
  const served = {
    url: listening.url,
    server,
    close: async () => {
      server.sessions.close()
      await listening.close()
      await Promise.all(environments.map(({ host }) => host.close()))
    },
  }
  open.push(served)
  return served
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((served) => served.close()))
})
afterAll(removeFixtures)

/** Shows its draw and its step; ends in step 3. */
const counter = (extra = '') => `
  observation: dict({ draw: box({ shape: [1] }), step: discrete({ n: 5, start: 1 }), said: text({ maxTokens: 4 }) }),
  action: discrete({ n: 3 }),
  maxSteps: 4,
  tasks: { train: 5, eval: 7 },
  reset: ({ rng, task }) => ({ draw: rng(), step: 0, task }),
  step(state, action) {
    state.step += 1
    ${extra}
    return { reward: 0.1 * action, terminated: state.step === 3 && action === 2 }
  },
  observe: ({ draw, step, task }) => ({ draw: [draw], step: step + 1, said: 'größer 🙂 ' + task.split + step }),
  metrics: ({ step }) => ({ steps: step, ...(step === 3 ? { won: 1 } : { won: 0 }) }),
`

const actions = (...choices: number[]) => Int32Array.from(choices)

function refusalOf(asked: Promise<unknown>): Promise<VectorRefusal> {
  return asked.then(
    () => expect.unreachable('it was not refused'),
    (error) => {
      expect(error).toBeInstanceOf(VectorRefusal)
      return error as VectorRefusal
    },
  )
}

const drawsOf = ({ observations }: VectorReply) => Array.from(observations[0] as Float32Array)

describe('WS /v1/vector', () => {
  it('sends each leaf as it is: numbers, choices from 0, and whole texts', async () => {
    const { url } = await serve(await scenarioOf(counter()))
    const client = await VectorClient.open(url, { environments: 2, autoreset: 'same_step', seed: 3 })
    expect(client.opened).toMatchObject({
      name: 'fixture',
      version: '1.2.3',
      max_steps: 4,
      mask: 0,
      fields: {
        observation: [
          { name: 'draw', dtype: 'float32', shape: [1] },
          { name: 'step', dtype: 'int32', shape: [] },
          { name: 'said', dtype: 'text', shape: [] },
        ],
        action: [{ name: 'action', dtype: 'int32', shape: [] }],
      },
    })
    const first = await client.reset()
    expect(first.observations.slice(1)).toEqual([actions(0, 0), ['größer 🙂 train0', 'größer 🙂 train0']])
    await client.step(actions(0, 1))
    await client.step(actions(0, 1))
    const third = await client.step(actions(2, 1))
    expect(third).toMatchObject({
      rewards: Float64Array.from([0.2, 0.1].map(Math.fround)),
      terminated: Uint8Array.of(1, 0),
      truncated: Uint8Array.of(0, 0),
      metrics: { names: ['steps', 'won'], values: Float64Array.of(3, 1) },
    })
    expect(third.observations.slice(1)).toEqual([actions(0, 3), ['größer 🙂 train0', 'größer 🙂 train3']])
    expect(third.final.slice(1)).toEqual([actions(3), ['größer 🙂 train3']])
    const fourth = await client.step(actions(2, 1))
    expect(fourth).toMatchObject({ terminated: Uint8Array.of(0, 0), truncated: Uint8Array.of(0, 1) })
    expect(fourth.final[2]).toEqual(['größer 🙂 train4'])
    client.close()
  })

  it('draws the only environment of a connection, at the end of an episode its last state', async () => {
    const drawn = `${counter()}
      render: ({ step }) => ({ width: 80, height: 24, shapes: [{ kind: 'text', x: 40, y: 12, text: 'step ' + step }] }),
    `
    const { url } = await serve(await scenarioOf(drawn))
    const client = await VectorClient.open(url, { environments: 1, autoreset: 'next_step' })
    expect(client.opened.render_modes).toEqual(['ansi'])
    const render = async () => JSON.parse(String(await client.ask('{"type":"render","mode":"ansi","environment":0}')))
    expect(await render()).toMatchObject({ type: 'error', fatal: false, error: { code: 'request_invalid' } })
    await client.reset()
    expect(await render()).toEqual({ type: 'rendered', text: expect.stringContaining('step 0') })
    for (let step = 1; step <= 4; step++) {
      await client.step(actions(1))
      expect(await render()).toMatchObject({ text: expect.stringContaining(`step ${step}`) })
    }
    await client.step(actions(1))
    expect(await render()).toMatchObject({ text: expect.stringContaining('step 0') })
    client.close()
    const pair = await VectorClient.open(url, { environments: 2 })
    expect(pair.opened.render_modes).toEqual([])
    const refused = await pair.ask('{"type":"render","mode":"ansi","environment":0}')
    expect(JSON.parse(String(refused))).toMatchObject({ fatal: true, error: { code: 'frame_invalid' } })
  })

  it('plays the episodes of a training with the seed, in any split of its environments over connections', async () => {
    const { url } = await serve(await scenarioOf(counter()))
    const whole = await VectorClient.open(url, { environments: 4, seed: 9 })
    const half = await VectorClient.open(url, { environments: 2, seed: 9, first_environment: 2 })
    const [all, last] = [drawsOf(await whole.reset()), drawsOf(await half.reset())]
    expect(new Set(all).size).toBe(4)
    expect(last).toEqual(all.slice(2))
    // A seed makes an environment the first of a run of its own.
    const seeded = drawsOf(await half.reset({ seeds: [9, 9] }))
    expect(seeded).toEqual([all[0], all[0]])
    expect(drawsOf(await half.reset())).toEqual(
      drawsOf(await whole.reset())
        .slice(0, 1)
        .flatMap((draw) => [draw, draw]),
    )
    whole.close()
    half.close()
  })

  it('plays each held-out episode once', async () => {
    const { url } = await serve(await scenarioOf(counter()))
    const [alone, three] = await Promise.all(
      [1, 3].map((environments) => VectorClient.open(url, { environments, split: 'eval', seed: 4 })),
    )
    const expected: number[] = []
    for (let episode = 0; episode < 6; episode += 1) expected.push(...drawsOf(await alone.reset()))
    const first = await three.reset()
    expect((first.observations[2] as string[])[0]).toContain('eval')
    expect([...drawsOf(first), ...drawsOf(await three.reset())]).toEqual(expected)
    expect(
      (await refusalOf(VectorClient.open(url, { environments: 2, split: 'eval', first_environment: 2 }))).frame,
    ).toMatchObject({
      fatal: true,
      error: { code: 'config_invalid', data: { field: 'first_environment' } },
    })
    alone.close()
    three.close()
  })

  it('refuses what is not legal and changes nothing: indices, masks, arguments of the tool that is called', async () => {
    const masked = await scenarioOf(`
      observation: box({ shape: [1] }),
      action: dict({ lever: discrete({ n: 3 }), gas: box({ shape: [1], low: -1, high: 1 }) }),
      maxSteps: 9,
      reset: () => ({ steps: 0 }),
      step(state, { gas }) { state.steps += 1; return { reward: gas[0], terminated: false } },
      observe: ({ steps }) => [steps],
      actionMask: ({ steps }) => ({ lever: [true, steps === 0, false] }),
    `)
    const { url } = await serve(masked)
    const client = await VectorClient.open(url, { environments: 2 })
    const gas = Float32Array.of(0.5, 7)
    expect((await refusalOf(client.step(actions(0, 0), gas))).frame).toMatchObject({
      fatal: false,
      error: { code: 'request_invalid', message: 'Environment 0 has no episode: reset it first.' },
    })
    expect((await client.reset({ seeds: [5, 6] })).masks).toEqual(Uint8Array.of(1, 1, 0, 1, 1, 0))
    for (const [lever, what] of [
      [actions(0, 3), 'The action "lever" of environment 1 is 3, not one of 3 choices.'],
      [actions(0, 2), 'The action "lever" of environment 1 is 2, which the mask of the last reply forbids.'],
    ] as const) {
      const { frame } = await refusalOf(client.step(lever, gas))
      expect(frame).toMatchObject({ fatal: false, error: { message: what, data: { environment: 1, field: 'lever' } } })
    }
    expect((await refusalOf(client.step(actions(0, 0), Float32Array.of(0, Number.NaN)))).message).toContain('is NaN')
    // Boxes are clipped.
    const stepped = await client.step(actions(1, 1), gas)
    expect(stepped).toMatchObject({ rewards: Float64Array.of(0.5, 1), masks: Uint8Array.of(1, 0, 0, 1, 0, 0) })
    expect(stepped.observations).toEqual([Float32Array.of(1, 1)])
    client.close()
  })

  it('holds arguments to the mask only of the tool that is called', async () => {
    const tools = await toolScenarioOf(`
      observation: box({ shape: [1] }), maxSteps: 5, tasks: { train: 5, eval: 5 },
      tools: {
        wait: { description: 'Waits.', run: () => ({ right: true }) },
        pay: {
          description: 'Pays.',
          parameters: { from: choice(['cash', 'card', 'check']) },
          allowed: () => ({ from: ['card', 'check'] }),
          run: (state, { from }) => ({ reward: from === 'card' ? 2 : 1 }),
        },
      },
      start: () => ({}), observe: () => [0], outcome: () => 0, baselines: { tokens: 1, seconds: 1 },
    `)
    const { url } = await serve(tools)
    const client = await VectorClient.open(url, { environments: 1 })
    expect(client.opened.fields.action.map(({ name }) => name)).toEqual(['tool', 'pay.from'])
    expect((await client.reset()).masks).toEqual(Uint8Array.of(1, 1, 0, 1, 1))
    expect((await refusalOf(client.step(actions(1), actions(0)))).message).toContain(
      'action "pay.from" of environment 0',
    )
    await client.step(actions(0), actions(0))
    const { rewards } = await client.step(actions(1), actions(1))
    expect(rewards).toEqual(Float64Array.of(2))
    client.close()
  })

  it('reports a fault with its environment and step, and ends; other connections go on', async () => {
    const faulty = await scenarioOf(counter(`if (state.step === 2 && action === 1) throw new Error('the ice broke')`))
    const { url, server } = await serve(faulty)
    const [healthy, client] = await Promise.all([1, 3].map((environments) => VectorClient.open(url, { environments })))
    await Promise.all([healthy.reset(), client.reset()])
    await client.step(actions(0, 0, 0))
    const { frame } = await refusalOf(client.step(actions(0, 1, 0)))
    expect(frame).toMatchObject({
      fatal: true,
      request: 3,
      error: { code: 'scenario_threw', data: { environment: 1, step: 2 } },
    })
    expect(frame.error.message).toContain('the ice broke')
    await client.closed
    expect((await healthy.step(actions(0))).rewards).toEqual(Float64Array.of(0))
    expect(server.sessions.active).toBe(1)
    healthy.close()
  })

  it('ends the environments of a socket that dies, and refuses more than the server has', async () => {
    const { url, server } = await serve(await scenarioOf(counter()))
    const clients = await Promise.all(Array.from({ length: 8 }, () => VectorClient.open(url, { environments: 2 })))
    expect(server.sessions.active).toBe(8)
    expect((await refusalOf(VectorClient.open(url, { environments: 1 }))).frame.error.code).toBe('capacity_reached')
    for (const client of clients) client.close()
    await Promise.all(clients.map(({ closed }) => closed))
    await expect.poll(() => server.sessions.active).toBe(0)
  })

  it('finds the scenario that a client names', async () => {
    const { url } = await serve(
      await scenarioOf(counter(), { name: '@acme/one' }),
      await scenarioOf(counter(), { name: '@acme/two' }),
    )
    for (const scenario of ['@acme/two', 'acme/two@^1.0.0', 'two@1.2.3']) {
      const client = await VectorClient.open(url, { environments: 1, scenario })
      expect(client.opened.name).toBe('@acme/two')
      client.close()
    }
    const below = await VectorClient.open(`${url}/envs/two`, { environments: 1 })
    expect(below.opened.name).toBe('@acme/two')
    below.close()
    expect((await refusalOf(VectorClient.open(url, { environments: 1, scenario: '@acme/two@2' }))).message).toBe(
      'This server has @acme/two@1.2.3, which "2" does not include.',
    )
    expect((await refusalOf(VectorClient.open(url, { environments: 1, scenario: 'three' }))).frame.error).toMatchObject(
      {
        code: 'config_invalid',
        hint: 'It serves @acme/one@1.2.3, @acme/two@1.2.3.',
      },
    )
  })
})
