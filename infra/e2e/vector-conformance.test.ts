// @module-tag full
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Autoreset, FieldValues, VectorReply } from '@agentgym/contract/protocols'
import { pythonEnvironment, pythonSource } from '@agentgym/testkit/python'
import { VectorClient, VectorRefusal } from '@agentgym/testkit/vector-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

type Server = { url: string; end(): Promise<void> }

async function start(program: string, parameters: string[], environment: NodeJS.ProcessEnv = {}): Promise<Server> {
  const child = spawn(program, [...parameters, '--exit-with-stdin', '--json'], {
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  return {
    url: JSON.parse(line).url,
    end: async () => {
      child.stdin.end()
      await once(child, 'close')
    },
  }
}

const command = join(import.meta.dirname, '../../agentgym')
const scenario = (name: string) => start(command, ['env', 'serve', name, '--port', '0'])
const gymnasium = async (id: string, ...options: string[]) =>
  start(await pythonEnvironment('environments'), ['-m', 'agentgym.envs', `gymnasium:${id}`, ...options], {
    PYTHONPATH: pythonSource,
  })

const modes: Autoreset[] = ['same_step', 'next_step', 'disabled']
const ENVIRONMENTS = 3

/** A number from 0 to 1 that depends on both: the same actions for every server and mode. */
function noise(environment: number, step: number): number {
  const mixed = Math.imul((environment + 1) * 0x9e3779b1 + step * 0x85ebca6b, 0xc2b2ae35)
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
}

const rowOf = (values: FieldValues, row: number) => Array.from((values as Float32Array).subarray(...range(values, row)))

function range(values: FieldValues, row: number, rows = ENVIRONMENTS): [number, number] {
  const width = values.length / rows
  return [row * width, (row + 1) * width]
}

/** One episode: its first observation, then of each step the reward, the flags and the observation that it led to. */
type Episode = unknown[]

/** Whole episodes of each environment, put together from what a mode shows when. */
async function episodesOf(client: VectorClient, steps: number): Promise<Episode[][]> {
  const { autoreset, fields } = client.opened
  const choose = (environment: number, step: number) => noise(environment, step)
  const whole = fields.action[0].dtype === 'int32'
  const first = await client.reset()
  const running = Array.from({ length: ENVIRONMENTS }, (_, row): Episode => [rowOf(first.observations[0], row)])
  const done: Episode[][] = running.map(() => [])
  const taken = Array(ENVIRONMENTS).fill(0)
  let ended: number[] = []
  while (Math.min(...taken) < steps) {
    if (autoreset === 'disabled' && ended.length > 0) {
      const reply = await client.reset({ rows: ended })
      for (const row of ended) running[row] = [rowOf(reply.observations[0], row)]
    }
    const draws = taken.map((step, row) => choose(row, step))
    const reply = await client.step(
      whole ? Int32Array.from(draws, (draw) => (draw < 0.5 ? 0 : 1)) : Float32Array.from(draws, (draw) => 4 * draw - 2),
    )
    const ignored = autoreset === 'next_step' ? ended : []
    ended = endedIn(reply)
    for (const row of running.keys()) {
      const now = rowOf(reply.observations[0], row)
      if (ignored.includes(row)) {
        expect([reply.rewards[row], ended.includes(row)]).toEqual([0, false])
        running[row] = [now]
        continue
      }
      taken[row] += 1
      const place = ended.indexOf(row)
      const final = autoreset === 'same_step' && place >= 0
      const last = final
        ? Array.from((reply.final[0] as Float32Array).subarray(...range(reply.final[0], place, ended.length)))
        : now
      running[row].push([reply.rewards[row], reply.terminated[row], reply.truncated[row], last])
      if (place < 0) continue
      done[row].push(running[row])
      running[row] = [now]
    }
  }
  return done
}

function endedIn({ terminated, truncated }: VectorReply): number[] {
  return Array.from(terminated.keys()).filter((row) => terminated[row] + truncated[row] > 0)
}

async function refusalOf(asked: Promise<unknown>): Promise<VectorRefusal['frame']> {
  const error = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(VectorRefusal)
  return (error as VectorRefusal).frame
}

const servers = {
  'agentgym env serve': { cart: () => scenario('cart-pole'), pendulum: () => scenario('pendulum') },
  'python -m agentgym.envs': { cart: () => gymnasium('CartPole-v1'), pendulum: () => gymnasium('Pendulum-v1') },
  'python -m agentgym.envs --workers 2': {
    cart: () => gymnasium('CartPole-v1', '--workers', '2'),
    pendulum: () => gymnasium('Pendulum-v1', '--workers', '2'),
  },
}

describe.each(Object.entries(servers))('%s', (_, { cart, pendulum }) => {
  let pole: Server
  let swing: Server

  beforeAll(async () => {
    ;[pole, swing] = await Promise.all([cart(), pendulum()])
  })
  afterAll(async () => {
    await Promise.all([pole.end(), swing.end()])
  })

  it('plays the same episodes in every autoreset mode, with the true last observation', async () => {
    for (const [server, steps, flags] of [
      [pole, 120, [1, 0]],
      [swing, 420, [0, 1]],
    ] as const) {
      const episodes = []
      for (const autoreset of modes) {
        const client = await VectorClient.open(server.url, { environments: ENVIRONMENTS, seed: 21, autoreset })
        episodes.push(await episodesOf(client, steps))
        client.close()
      }
      for (const row of Array(ENVIRONMENTS).keys()) {
        const each = episodes.map((mode) => mode[row])
        const count = Math.min(...each.map(({ length }) => length))
        expect(count).toBeGreaterThan(1)
        expect(each[1].slice(0, count)).toEqual(each[0].slice(0, count))
        expect(each[2].slice(0, count)).toEqual(each[0].slice(0, count))
        for (const episode of each[0]) expect((episode.at(-1) as number[]).slice(1, 3)).toEqual(flags)
      }
    }
  })

  it('continues a run over several connections, and gives equal seeds equal episodes', async () => {
    const [all, last] = await Promise.all([
      VectorClient.open(pole.url, { environments: 4, seed: 6 }),
      VectorClient.open(pole.url, { environments: 2, seed: 6, first_environment: 2 }),
    ])
    const [first] = (await all.reset()).observations
    expect((await last.reset()).observations[0]).toEqual((first as Float32Array).slice(8))
    const seeded = (await all.reset({ seeds: [77, 77, 77, 77] })).observations[0]
    expect((await last.reset({ seeds: [77, 77] })).observations[0]).toEqual((seeded as Float32Array).slice(0, 8))
    const rows = Array.from({ length: 4 }, (_, row) => (seeded as Float32Array).slice(4 * row, 4 * row + 4).join())
    expect(new Set(rows).size).toBe(1)
    all.close()
    last.close()
  })

  it('refuses what is not legal without changing anything', async () => {
    const [client, untouched] = await Promise.all(
      [1, 2].map(() => VectorClient.open(pole.url, { environments: 2, autoreset: 'disabled' })),
    )
    expect(await refusalOf(client.step(Int32Array.of(0, 0)))).toMatchObject({
      fatal: false,
      request: 1,
      error: { code: 'request_invalid', data: { environment: 0 } },
    })
    await Promise.all([client.reset(), untouched.reset()])
    expect(await refusalOf(client.step(Int32Array.of(0, 2)))).toMatchObject({
      fatal: false,
      error: { code: 'request_invalid', data: { environment: 1 } },
    })
    const [one, other] = [await client.step(Int32Array.of(1, 0)), await untouched.step(Int32Array.of(1, 0))]
    expect({ ...one, request: 0 }).toEqual({ ...other, request: 0 })
    let reply = one
    while (endedIn(reply).length === 0) reply = await client.step(Int32Array.of(1, 0))
    expect(await refusalOf(client.step(Int32Array.of(1, 0)))).toMatchObject({
      fatal: false,
      error: { code: 'request_invalid' },
    })
    client.close()
    untouched.close()
  })

  it('ends a connection that does not keep to the protocol, with the reason', async () => {
    const frames = ['{"type":"step"}', 'no json', Uint8Array.of(9, 0, 0, 0, 4, 0, 0, 0), new Uint8Array(3)]
    for (const frame of frames) {
      const client = await VectorClient.open(pole.url, { environments: 1 })
      const answer = await client.ask(frame)
      expect(JSON.parse(String(answer))).toMatchObject({ type: 'error', fatal: true, error: { code: 'frame_invalid' } })
      await client.closed
    }
    expect(await refusalOf(VectorClient.open(pole.url, { environments: 60_000 }))).toMatchObject({
      fatal: true,
      error: { code: 'config_invalid', data: { field: 'environments' } },
    })
    expect(await refusalOf(VectorClient.open(pole.url, { environments: 1, scenario: 'no-such' }))).toMatchObject({
      fatal: true,
      error: { code: 'config_invalid' },
    })
  })
})
