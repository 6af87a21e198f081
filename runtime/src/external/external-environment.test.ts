import { AgentGymError } from '@agentgym/contract'
import { type EpisodePlan, IDLE, TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { LinkThread } from './environment-link.ts'
import { ExternalEnvironment } from './external-environment.ts'
import { openEnvironmentTarget } from './opened-environment.ts'
import { type Fault, startWalkServer, WALK_STEPS, type WalkOptions, type WalkServer } from './testing/walk-server.ts'

let server: WalkServer
let links: LinkThread
beforeAll(async () => {
  server = await startWalkServer()
  links = await LinkThread.spawn()
})
afterAll(async () => {
  await server.close()
  await links.close()
})

const opened: ExternalEnvironment[] = []
afterEach(() => {
  for (const environment of opened.splice(0)) environment.dispose()
})

type Options = {
  environments?: number
  firstEnvironment?: number
  seed?: number
  plan?: EpisodePlan
  timeoutMs?: number
  on?: WalkServer
}

async function connect(walk: WalkOptions = {}, options: Options = {}): Promise<ExternalEnvironment> {
  const { environments = 4, firstEnvironment, seed = 3, plan = { split: 'train' }, timeoutMs, on = server } = options
  const { external } = await openEnvironmentTarget({ target: on.target(walk), timeoutMs })
  const link = links.connect()
  const environment = new ExternalEnvironment(external, { environments, firstEnvironment, seed, plan, link })
  opened.push(environment)
  return environment
}

/** What was played with actions that depend on nothing but environment and step. */
function play(environment: ExternalEnvironment, steps: number) {
  const { buffers, environments } = environment
  environment.reset()
  const begin = Array.from(buffers.observations)
  const played = Array.from({ length: steps }, (_, t) => {
    for (let i = 0; i < environments; i++) buffers.actions[i] = 1 + ((i + t) % 2)
    environment.step()
    return Array.from({ length: environments }, (_, i) => {
      const ended = (buffers.flags[i] & (TERMINATED | TRUNCATED)) !== 0
      const row = (array: Float32Array) => Array.from(array.subarray(i * 3, i * 3 + 3))
      return {
        reward: buffers.rewards[i],
        flags: buffers.flags[i],
        next: row(buffers.observations),
        ...(ended
          ? {
              final: row(buffers.finalObservations),
              episode: [buffers.episodeNumbers[i], buffers.episodeLengths[i], buffers.episodeReturns[i]],
            }
          : {}),
      }
    })
  })
  return { begin, played }
}

describe('environments of a process of the user', () => {
  test('are the same whichever convention of autoreset the server keeps to', async () => {
    const runs = []
    for (const autoreset of ['same_step', 'next_step', 'disabled'] as const) {
      runs.push(play(await connect({ autoreset }), 40))
    }
    expect(runs[1]).toEqual(runs[0])
    expect(runs[2]).toEqual(runs[0])
    const rows = runs[0].played.flat()
    expect(rows.filter(({ final }) => final !== undefined).length).toBeGreaterThan(10)
    for (const { final, next, flags, episode } of rows) {
      if (final === undefined) continue
      expect(next.slice(1)).toEqual([0, 0])
      expect(final[1]).toBe(episode?.[1])
      expect(flags & TERMINATED).toBe(Math.abs(final[2]) === 3 ? TERMINATED : 0)
      expect(flags & TRUNCATED).toBe(final[1] === WALK_STEPS ? TRUNCATED : 0)
    }
  })

  test('do the same whatever connection they are on', async () => {
    const whole = play(await connect({}, { environments: 6 }), 20)
    const part = play(await connect({}, { environments: 2, firstEnvironment: 4 }), 20)
    expect(part.begin).toEqual(whole.begin.slice(12))
    expect(part.played.map((rows) => rows.map(({ next }) => next))).toEqual(
      whole.played.map((rows) => rows.slice(4).map(({ next }) => next)),
    )
  })

  test('of a group begin alike, play one episode and then wait', async () => {
    const plan = { split: 'train', groupSize: 2 } as const
    const environment = await connect({}, { environments: 6, plan })
    const { begin, played } = play(environment, WALK_STEPS + 2)
    const starts = begin.filter((_, i) => i % 3 === 0)
    expect(starts).toEqual([starts[0], starts[0], starts[2], starts[2], starts[4], starts[4]])
    expect(new Set(starts).size).toBe(3)
    for (let i = 0; i < 6; i++) {
      const flags = played.map((rows) => rows[i].flags)
      const end = flags.findIndex((flag) => flag !== 0)
      expect(flags.slice(end + 1).every((flag) => flag === IDLE)).toBe(true)
      expect(played.slice(end + 1).every((rows) => rows[i].reward === 0)).toBe(true)
    }
    environment.reset(7)
    expect(environment.buffers.observations[0]).not.toBe(starts[0])
  })

  test('of an evaluation play each its episodes, on seeds that training never has', async () => {
    await server.seeds()
    const plan = { split: 'eval', episodes: 10 } as const
    const evaluation = await connect({}, { environments: 4, plan })
    const ended: number[] = []
    evaluation.reset()
    while (ended.length < 10) {
      evaluation.buffers.actions.fill(2)
      evaluation.step()
      evaluation.buffers.flags.forEach((flag, i) => {
        if ((flag & (TERMINATED | TRUNCATED)) !== 0) ended.push(evaluation.buffers.episodeNumbers[i])
      })
    }
    expect(ended.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    const heldOut = await server.seeds()
    expect(new Set(heldOut).size).toBe(10)
    expect(heldOut.every((seed) => seed >= 2 ** 31 && seed < 2 ** 32)).toBe(true)
    const training = await connect({}, { plan: { split: 'train', groupSize: 1 }, seed: 2 ** 32 - 1 })
    training.reset(3)
    const trained = await server.seeds()
    expect(trained.length).toBe(4)
    expect(trained.every((seed) => seed < 2 ** 31)).toBe(true)
  })

  test('are opened with what the run has found before, or not at all', async () => {
    const { external } = await openEnvironmentTarget({ target: server.target() })
    const source = { ...external, endpoint: { ...external.endpoint, scenario: '{"actions":4}' } }
    const plan = { split: 'train' } as const
    const open = () => new ExternalEnvironment(source, { environments: 1, seed: 1, plan, link: links.connect() })
    expect(open).toThrow(expect.objectContaining({ code: 'environment_invalid' }))
  })
})

describe('a process that fails', () => {
  const cases: [Fault['kind'], string, RegExp][] = [
    ['nan-reward', 'reward_not_finite', /a reward is not finite \(environment 2, episode 0, step 4\)/],
    ['nan-observation', 'observation_invalid', /not finite \(environment 2, episode 0, step 4\)/],
    ['nan-final-observation', 'observation_invalid', /last observation .*\(environment 2, episode 0, step 4\)/],
    ['no-legal-action', 'no_legal_action', /no legal action \(environment 2, episode 0, step 4\)/],
    ['strange-mask', 'environment_invalid', /a flag is neither 0 nor 1/],
    ['index-out-of-range', 'observation_invalid', /is 2 where an index from 0 to 1 belongs.*environment 2.*step 4/],
    ['short-frame', 'environment_invalid', /malformed.*vector step 4/],
    ['garbage', 'environment_invalid', /malformed/],
    ['text', 'environment_invalid', /with text/],
    ['wrong-request', 'environment_invalid', /another request/],
    ['hang', 'environment_timeout', /did not answer within 0.5 s.*vector step 4/],
    ['close', 'environment_failed', /code 1011, out of.*31m memory/],
    ['die', 'environment_failed', /without a word.*vector step 4/],
    ['report', 'environment_failed', /the sensor is gone/],
  ]
  test.each(cases)('%s is a fault that names the environment and its step', async (kind, code, message) => {
    // One that dies is not there for the next test.
    const own = kind === 'die' ? await startWalkServer() : undefined
    const fault = { kind, environment: 2, step: 4 }
    const environment = await connect({ fault, masked: true }, { timeoutMs: 500, on: own })
    environment.reset()
    const step = () => {
      environment.buffers.actions.fill(1)
      environment.step()
    }
    for (let i = 0; i < 3; i++) step()
    let thrown: unknown
    try {
      step()
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(AgentGymError)
    expect(thrown).toMatchObject({ code, message: expect.stringMatching(message) })
    const { data } = thrown as AgentGymError
    expect(data.scenario).toBe('vector:walk')
    expect(data.step ?? data.vector_step).toBe(4)
    // A server that is lost stays lost.
    if (['hang', 'close', 'die'].includes(kind)) expect(step).toThrow(expect.objectContaining({ code }))
  })

  test('a server that is not there, or speaks something else, is refused before training', async () => {
    const { url } = server.target()
    const reach = (elsewhere: string) => openEnvironmentTarget({ target: { kind: 'vector', url: elsewhere } })
    await expect(reach(url.replace(/:\d+/, ':1'))).rejects.toThrow(
      expect.objectContaining({ code: 'environment_unreachable' }),
    )
    await expect(reach(url.replace('vector', 'elsewhere'))).rejects.toThrow(
      expect.objectContaining({ code: 'environment_unreachable' }),
    )
  })
})
