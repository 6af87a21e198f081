// @module-tag full
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { AgentGymError, CallAnswer } from '@agentgym/contract'
import { afterEach, describe, expect, it } from 'vitest'
import { goodModel } from '../../../testdata/models/good-models.ts'
import { endlessLoop, externalWeights, memoryBomb } from '../../../testdata/models/hostile-models.ts'
import { goodAgent } from '../../../testdata/tarballs/good-agent.ts'
import { processesRunning } from '../worker/testing/fixture-job.ts'
import type { ServedCall } from './call-answerer.ts'
import { callAnswerer } from './call-answerer.ts'
import { readAnswers, ServedAgent, type ServedAgentLimits } from './served-agent.ts'
import { ServedAgents } from './served-agents.ts'

describe('served agent', () => {
  const limits: ServedAgentLimits = { startMs: 60_000, deadlineMs: 30_000, processMemoryMb: 2_048 }
  const running = () => processesRunning('served-agent.process')
  const calls = (...observations: unknown[]) =>
    observations.map((observation) => ({ id: randomUUID(), observation, action_mask: null }) as ServedCall)
  const codes = (answers: CallAnswer[]) => answers.map((answer) => ('error' in answer ? answer.error.code : 'answered'))

  const open: { end(): Promise<void> }[] = []
  function serve(model: Uint8Array, change: Partial<ServedAgentLimits> = {}) {
    const failures: AgentGymError[] = []
    const loaded = Promise.withResolvers<void>()
    const events = { onFailed: (error: AgentGymError) => failures.push(error), onLoaded: loaded.resolve }
    const agent = new ServedAgent({ manifest: goodAgent, model }, { ...limits, ...change }, events)
    open.push(agent)
    return { agent, failures, loaded: loaded.promise }
  }
  afterEach(async () => {
    await Promise.all(open.splice(0).map((agent) => agent.end()))
    expect(running()).toEqual([])
  })

  async function until(condition: () => boolean): Promise<void> {
    while (!condition()) await delay(10)
  }

  describe('a served agent', { timeout: 240_000 }, () => {
    it('answers one batch after another from one process, as without a process', async () => {
      const { agent } = serve(goodModel())
      const request = calls([1, 2], [1], [-3, 0.5])
      const answers = await agent.answer(request)
      const untimed = (list: CallAnswer[]) =>
        list.map((answer) => ('error' in answer ? answer : { ...answer, model_ms: 0 }))
      expect(untimed(answers)).toEqual(untimed(callAnswerer(goodAgent, goodModel())(request)))
      const before = running()
      expect(before).toHaveLength(1)
      const more = await Promise.all([agent.answer(calls([0, 0])), agent.answer(calls([1, 1], [2, 2]))])
      expect(more.map(codes)).toEqual([['answered'], ['answered', 'answered']])
      expect(running()).toEqual(before)
    })

    it('refuses a call that is nested without end, and answers the others', async () => {
      const { agent } = serve(goodModel())
      const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)
      expect(codes(await agent.answer(calls([0, 0], deep, [1, 1])))).toEqual([
        'answered',
        'observation_invalid',
        'answered',
      ])
      expect(codes(await agent.answer(calls(deep)))).toEqual(['observation_invalid'])
    })

    it('is not served again once it was ended', async () => {
      const { agent } = serve(goodModel())
      await agent.end()
      await expect(agent.answer(calls([0, 0]))).rejects.toMatchObject({ code: 'training_cancelled' })
    })
  })

  describe('a model that went around the walk ends its own process', { timeout: 240_000 }, () => {
    it('by hanging: its batch fails, and the next has another process', async () => {
      const { agent, failures } = serve(endlessLoop, { deadlineMs: 2_000 })
      expect(codes(await agent.answer(calls([0, 0], [1, 1])))).toEqual(['model_timeout', 'model_timeout'])
      expect(running()).toEqual([])
      expect(codes(await agent.answer(calls([0, 0])))).toEqual(['model_timeout'])
      expect(failures.map(({ code }) => code)).toEqual(['model_timeout', 'model_timeout'])
    })

    it('by filling the memory', async () => {
      const { agent } = serve(memoryBomb, { processMemoryMb: 600 })
      // Where the machine has not so much at all, the allocator says so before anything is written.
      expect(codes(await agent.answer(calls([0, 0])))[0]).toMatch(/^model_(out_of_memory|load_failed|run_failed)$/)
      expect(running()).toEqual([])
    })

    it('by being no model, or one that reads files', async () => {
      for (const model of [externalWeights, goodModel().subarray(0, 300)]) {
        const { agent } = serve(model)
        expect(codes(await agent.answer(calls([0, 0], [1])))).toEqual(['model_load_failed', 'model_load_failed'])
      }
    })

    it.each([
      ['SIGKILL', 'model_out_of_memory'],
      ['SIGSEGV', 'model_crashed'],
    ] as const)('in the middle of a batch, by %s', async (signal, code) => {
      const { agent, loaded } = serve(endlessLoop)
      const answers = agent.answer(calls([0, 0]))
      await loaded
      await delay(100)
      for (const pid of running()) process.kill(pid, signal)
      expect(codes(await answers)).toEqual([code])
    })

    it('while nobody asks: the next batch has another one, and nothing failed', async () => {
      const { agent, failures } = serve(goodModel())
      await agent.answer(calls([0, 0]))
      const [pid] = running()
      process.kill(pid, 'SIGKILL')
      await until(() => running().length === 0)
      // Gone for the machine; its end has still to be heard of here.
      await delay(200)
      expect(codes(await agent.answer(calls([0, 0])))).toEqual(['answered'])
      expect(running()).not.toContain(pid)
      expect(failures).toEqual([])
    })
  })

  describe('the agents that are held', { timeout: 240_000 }, () => {
    const obtained: string[] = []
    function held(change: Partial<ConstructorParameters<typeof ServedAgents>[0]> = {}) {
      obtained.length = 0
      const agents = new ServedAgents({ held: 2, idleMs: 60_000, limits, ...change })
      open.push({ end: () => agents.close() })
      const ask = (id: string, model = goodModel()) => {
        const obtain = async () => {
          obtained.push(id)
          return { manifest: goodAgent, model }
        }
        return agents.answer({ id, calls: calls([0, 0]), obtain }).then(codes)
      }
      return { agents, ask }
    }

    it('are those called last', async () => {
      const { agents, ask } = held()
      for (const id of ['a', 'b', 'a', 'c', 'a', 'b']) expect(await ask(id)).toEqual(['answered'])
      expect(obtained).toEqual(['a', 'b', 'c', 'b'])
      expect(agents.ids).toEqual(['a', 'b'])
      expect(running()).toHaveLength(2)
    })

    it('are obtained once, however many ask', async () => {
      const { ask } = held()
      expect(await Promise.all(['a', 'a', 'b', 'a'].map((id) => ask(id)))).toEqual(Array(4).fill(['answered']))
      expect(obtained.sort()).toEqual(['a', 'b'])
    })

    it('do not wait for one that hangs', async () => {
      const { ask } = held({ limits: { ...limits, deadlineMs: 5_000 } })
      const order: string[] = []
      const hangs = ask('hangs', endlessLoop).then((answer) => order.push(...answer))
      await ask('good').then((answer) => order.push(...answer))
      await hangs
      expect(order).toEqual(['answered', 'model_timeout'])
    })

    it('leave no process once nobody has called for a while', async () => {
      const { agents, ask } = held({ idleMs: 300 })
      await ask('a')
      expect(running()).toHaveLength(1)
      await until(() => running().length === 0)
      expect(agents.ids).toEqual([])
      expect(await ask('a')).toEqual(['answered'])
      expect(obtained).toEqual(['a', 'a'])
    })

    it('that could not be obtained are asked for again', async () => {
      const { agents } = held()
      const fail = () => Promise.reject(new Error('no network'))
      await expect(agents.answer({ id: 'a', calls: calls([0, 0]), obtain: fail })).rejects.toThrow('no network')
      expect(agents.ids).toEqual([])
      const obtain = async () => ({ manifest: goodAgent, model: goodModel() })
      expect(codes(await agents.answer({ id: 'a', calls: calls([0, 0]), obtain }))).toEqual(['answered'])
    })

    it('end with what holds them, the batch under way too', async () => {
      const { agents, ask } = held()
      const hangs = ask('hangs', endlessLoop)
      const refused = expect(hangs).rejects.toMatchObject({ code: 'training_cancelled' })
      await until(() => running().length === 1)
      await agents.close()
      await refused
      expect(running()).toEqual([])
      await expect(ask('late')).rejects.toMatchObject({ code: 'training_cancelled' })
    })
  })
})

describe('read answers', () => {
  const calls = [{ id: randomUUID() }, { id: randomUUID() }]
  const answer = (id: string, change: object = {}) => ({
    ...{ id, action: 1, label: null, probabilities: [0.25, 0.75], model_ms: 0.1 },
    ...change,
  })
  const [first, second] = calls.map(({ id }) => answer(id))

  function nested(depth: number): unknown {
    let value: unknown = 1
    for (let i = 0; i < depth; i++) value = [value]
    return value
  }

  it('takes one answer a call', () => {
    const failed = { id: second.id, error: { code: 'observation_invalid', message: 'No.' } }
    expect(readAnswers([first, failed], calls)).toEqual([first, failed])
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['no list', { 0: first, 1: second }],
    ['too few', [first]],
    ['too many', [first, second, second]],
    ['one twice', [first, first]],
    ['another order', [second, first]],
    ['an id of no call', [first, answer(randomUUID())]],
    ['a field more', [first, answer(second.id, { price: 0 })]],
    ['no time', [first, answer(second.id, { model_ms: -1 })]],
    ['what is no probability', [first, answer(second.id, { probabilities: [2, -1] })]],
    ['numbers that JSON has not', [first, answer(second.id, { action: Number.NaN })]],
    ['what JSON has not', [first, answer(second.id, { action: 1n })]],
    ['a code that nobody knows', [first, { id: second.id, error: { code: 'paid', message: '' } }]],
    ['very much', [first, answer(second.id, { action: 'x'.repeat(2 ** 21) })]],
    ['a long story', [first, { id: second.id, error: { code: 'model_timeout', message: 'x'.repeat(5_000) } }]],
    ['a nest', [first, answer(second.id, { action: nested(100_000) })]],
  ])('ends a process that sends %s', (_, received) => {
    expect(() => readAnswers(received, calls)).toThrow(expect.objectContaining({ code: 'model_crashed' }))
  })
})
