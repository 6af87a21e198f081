import { describe, expect, expectTypeOf, test } from 'vitest'
import { faultOf, startEngine } from '../test/start-engine.ts'
import { definitionError } from './engine/faults.ts'
import { actionLeaves, TERMINATED } from './engine/index.ts'
import {
  box,
  choice,
  defineToolScenario,
  dict,
  discrete,
  list,
  multiDiscrete,
  number,
  pointer,
  text,
  tool,
} from './index.ts'

type Ticket = { paid: boolean; refunded: number; heard: unknown[] }

const plain = {
  observation: dict({ said: text({ maxTokens: 4 }), spent: box({ shape: [3] }) }),
  maxSteps: 4,
  start: (): Ticket => ({ paid: false, refunded: -1, heard: [] }),
  tools: {
    check: {
      description: 'Looks the payment up',
      cost: { tokens: 100, seconds: 24 },
      run(state: Ticket) {
        const right = !state.paid
        state.paid = true
        return { right }
      },
    },
    close: {
      description: 'Closes the ticket',
      cost: { tokens: 25 },
      run: (state: Ticket) => ({ right: state.paid, done: true, seconds: 12 }),
    },
    wait: { description: 'Does nothing that counts', run: () => ({ reward: -0.5 }) },
  },
  observe: (state: Ticket, progress: { tokens: number; seconds: number; lastTool: number }) => ({
    said: state.paid ? 'paid' : 'not paid',
    spent: [progress.tokens, progress.seconds, progress.lastTool],
  }),
  available: (state: Ticket): ('check' | 'close' | 'wait')[] =>
    state.paid ? ['close', 'wait'] : ['check', 'close', 'wait'],
  outcome: (state: Ticket) => (state.paid ? 10 : -5),
  rewards: { right: 10, wrong: -20, tokenSaving: 5, timeSaving: 3 },
  baselines: { tokens: 500, seconds: 240 },
}

/** Plays one episode; its rewards, and the last flags and metrics. */
function play(definition: unknown, actions: number[][]) {
  const { engine, buffers, description } = startEngine(definition)
  const rewards: number[] = []
  engine.reset()
  for (const action of actions) {
    buffers.actions.set(action)
    engine.step()
    rewards.push(buffers.rewards[0])
  }
  const metrics = Object.fromEntries(engine.metricNames().map((name, i) => [name, buffers.metrics[i]]))
  return { rewards, metrics, flags: buffers.flags[0], buffers, description }
}

describe('without parameters', () => {
  const scenario = defineToolScenario(plain)

  test('the action is discrete over the tools, and only those that are available are legal', () => {
    const { description, buffers } = play(scenario, [[0]])
    expect(description.action).toEqual({ type: 'discrete', n: 3, start: 0, labels: ['check', 'close', 'wait'] })
    expect(Array.from(buffers.masks)).toEqual([0, 1, 1])
    expect(Array.from(buffers.observations.subarray(4))).toEqual([100, 24, 0])
  })

  test('choices pay at once; the outcome and the savings of a solved episode pay with the last step', () => {
    const { rewards, metrics, flags } = play(scenario, [[0], [1]])
    expect(rewards[0]).toBe(10)
    // 125 of 500 tokens and 36 of 240 seconds were spent.
    expect(rewards[1]).toBeCloseTo(10 + 10 + 5 * 0.75 + 3 * 0.85, 5)
    expect(flags).toBe(TERMINATED)
    expect(metrics).toEqual({
      solved: 1,
      tool_calls: 2,
      tokens: 125,
      seconds: 36,
      tool_reliability: 1,
      cost_reduction: 0.75,
      time_savings: 0.85,
    })
  })

  test('a failed episode pays its outcome and no savings', () => {
    const { rewards, metrics } = play(scenario, [[1]])
    expect(rewards).toEqual([-25])
    expect([metrics.solved, metrics.tool_reliability, metrics.cost_reduction]).toEqual([0, 0, 0.95])
  })

  test('calls that are not judged count for nothing; running out of calls ends the episode with its outcome', () => {
    const { rewards, metrics, flags } = play(scenario, [[0], [2], [2], [2]])
    expect(rewards.slice(0, 3)).toEqual([10, -0.5, -0.5])
    expect(rewards[3]).toBeCloseTo(-0.5 + 10 + 5 * 0.8 + 3 * 0.9, 5)
    expect(flags).toBe(TERMINATED)
    expect(metrics.tool_reliability).toBe(1)
  })

  test('with gamma 1 the return of every step holds the outcome exactly once', () => {
    const returns = (outcome: number) => {
      const { rewards } = play(defineToolScenario({ ...plain, rewards: { right: 10 }, outcome: () => outcome }), [
        [0],
        [2],
        [1],
      ])
      return rewards.map((_, step) => rewards.slice(step).reduce((sum, reward) => sum + reward, 0))
    }
    const without = returns(0)
    expect(returns(7)).toEqual(without.map((value) => value + 7))
  })

  test('costs above the baselines pay nothing and show in the metrics', () => {
    const dear = { ...plain, baselines: { tokens: 50, seconds: 6 } }
    const { rewards, metrics } = play(defineToolScenario(dear), [[0], [1]])
    expect(rewards[1]).toBe(20)
    expect([metrics.cost_reduction, metrics.time_savings]).toEqual([-1.5, -5])
  })

  test('the author adds metrics', () => {
    const { metrics } = play(defineToolScenario({ ...plain, metrics: (state) => ({ paid: state.paid ? 1 : 0 }) }), [
      [1],
    ])
    expect(metrics.paid).toBe(0)
  })
})

describe('with parameters', () => {
  const scenario = defineToolScenario({
    ...plain,
    tools: {
      ...plain.tools,
      refund: tool({
        description: 'Pays back',
        parameters: {
          thirds: discrete({ n: 3, start: 1 }),
          note: multiDiscrete({ nvec: [2, 2] }),
          share: box({ shape: [1] }),
        },
        run(state: Ticket, args) {
          expectTypeOf(args.thirds).toEqualTypeOf<number>()
          expectTypeOf(args.share).toEqualTypeOf<Float32Array>()
          state.heard.push(args.thirds, ...args.note, args.share[0])
          state.refunded = args.thirds
          return { right: args.thirds === 3, done: true }
        },
      }),
    },
    observe: (state, progress) => ({ ...plain.observe(state, progress), said: state.heard.join(' ') }),
    outcome: (state) => (state.refunded === 3 ? 10 : -5),
  })

  test('the action is a dict of the tool and of the parameters of each tool that has some', () => {
    const { description, rewards, buffers } = play(scenario, [[3, 2, 1, 0, 0.5]])
    expect(actionLeaves(description.action).map((leaf) => leaf.name)).toEqual([
      'tool',
      'refund.thirds',
      'refund.note',
      'refund.share',
    ])
    expect(rewards[0]).toBeCloseTo(10 + 10 + 5 + 3, 5)
    // The tool's mask is that of `available`; every value of a parameter stays legal.
    expect(Array.from(buffers.masks)).toEqual([1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1])
  })

  test('parameters of a tool that was not called are ignored', () => {
    const { rewards } = play(scenario, [[0, 2, 1, 0, 0.5]])
    expect(rewards).toEqual([10])
  })
})

describe('rules', () => {
  const seen: unknown[] = []
  const ruled = defineToolScenario({
    ...plain,
    rules({ said, spent }, { available }) {
      seen.push({ said, spent: Array.from(spent), available: [...available] })
      return { tool: said === 'paid' ? 'close' : 'check' }
    },
  })

  test('see the observation and the available tools, and call like an agent', () => {
    const { engine, buffers, description } = startEngine(ruled)
    expect(description.rules).toBe(true)
    engine.reset()
    const called: number[] = []
    for (let step = 0; step < 2; step += 1) {
      engine.rules()
      called.push(buffers.actions[0])
      engine.step()
    }
    expect(called).toEqual([0, 1])
    expect(seen).toEqual([
      { said: 'not paid', spent: [0, 0, -1], available: ['check', 'close', 'wait'] },
      { said: 'paid', spent: [100, 24, 0], available: ['close', 'wait'] },
    ])
    expect(buffers.episodeReturns[0]).toBeGreaterThan(30)
  })

  test('change no episode: the same actions without them lead to the same', () => {
    const steps = (asked: boolean) => {
      const { engine, buffers } = startEngine(ruled, { environments: 4 })
      engine.reset()
      const rewards: number[][] = []
      for (const action of [0, 2, 1]) {
        if (asked) engine.rules()
        buffers.actions.fill(action)
        engine.step()
        rewards.push(Array.from(buffers.rewards))
      }
      return rewards
    }
    expect(steps(true)).toEqual(steps(false))
  })

  test.each([
    [{ tool: 'shout' }, 'rules returned the tool the string "shout", which is no tool'],
    [undefined, 'rules must return { tool, arguments }, got undefined'],
    [{ tool: 'check', arguments: { loud: 1 } }, 'rules: check has no parameter the string "loud"'],
  ])('that return %j are refused in words', (call, message) => {
    const { engine } = startEngine(defineToolScenario({ ...plain, rules: () => call as never }))
    engine.reset()
    expect(faultOf(() => engine.rules())).toMatchObject({ phase: 'rules', message: expect.stringContaining(message) })
  })

  test('choose arguments by words and ids', () => {
    const definition = defineToolScenario({
      observation: dict({ orders: list({ slots: 3, features: 1 }) }),
      maxSteps: 2,
      start: () => ({ got: [] as unknown[] }),
      tools: {
        refund: tool({
          description: 'Refunds an order',
          parameters: { order: pointer('orders'), reason: choice(['late', 'broken']) },
          run: (state: { got: unknown[] }, args) => ({ done: state.got.push({ ...args }) > 0 }),
        }),
      },
      observe: () => ({ orders: ['a', 'b'].map((id, i) => ({ id, features: [i] })) }),
      outcome: ({ got }) => (JSON.stringify(got) === '[{"order":"b","reason":"broken"}]' ? 1 : 0),
      rules: ({ orders }) => ({ tool: 'refund', arguments: { order: orders[1].id, reason: 'broken' } }),
    })
    const { engine, buffers } = startEngine(definition)
    engine.reset()
    engine.rules()
    engine.step()
    expect(buffers.rewards[0]).toBe(1)
  })
})

describe('an oracle', () => {
  type Desk = { orders: string[]; wanted: string; sent: unknown[] }
  const desk = (oracle: unknown, changes = {}) =>
    defineToolScenario({
      observation: dict({ orders: list({ slots: 3, features: 1 }) }),
      maxSteps: 2,
      start: (): Desk => ({ orders: ['A-1', 'B-2'], wanted: 'B-2', sent: [] }),
      tools: {
        look: { description: 'Looks around', run: () => ({}) },
        refund: tool({
          description: 'Pays back',
          parameters: {
            order: pointer('orders'),
            percent: number({ low: 0, high: 100, integer: true }),
            reason: choice(['broken', 'late']),
            note: discrete({ n: 2, start: 1 }),
          },
          allowed: () => ({ reason: ['late'] }),
          run(state: Desk, args) {
            state.sent.push({ ...args })
            return { done: true }
          },
        }),
      },
      observe: ({ orders }: Desk) => ({ orders: orders.map((id: string) => ({ id, features: [1] })) }),
      outcome: ({ sent }: Desk) => sent.length,
      oracle,
      ...changes,
    } as never)

  function playOracle(scenario: unknown, steps: number): number[][] {
    const { engine, buffers } = startEngine(scenario)
    engine.reset()
    const actions: number[][] = []
    for (let step = 0; step < steps; step += 1) {
      engine.oracle()
      actions.push(Array.from(buffers.actions))
      engine.step()
    }
    return actions
  }

  const refund = { order: 'B-2', percent: 50, reason: 'late', note: 2 }

  test('names the tool and its arguments, as run receives them', () => {
    const sent: unknown[] = []
    const scenario = desk(
      (state: Desk, context: { task: unknown }, progress: { step: number }) => {
        expect(context).toMatchObject({ task: { split: 'train', index: 0 }, rng: expect.any(Function) })
        if (progress.step === 0) return { tool: 'look' }
        return { tool: 'refund', arguments: { ...refund, order: state.wanted } }
      },
      { outcome: (state: Desk) => sent.push(...state.sent) },
    )
    expect(playOracle(scenario, 2)).toEqual([
      [0, 0, 0, 0, 0],
      [1, 1, 50, 1, 1],
    ])
    expect(sent).toEqual([refund])
  })

  test('without parameters anywhere, it names the tool alone', () => {
    expect(playOracle(defineToolScenario({ ...plain, oracle: () => ({ tool: 'close' }) }), 1)).toEqual([[1]])
  })

  test.each<[unknown, string, string]>([
    [undefined, 'scenario_threw', 'oracle must return { tool, arguments }, got undefined'],
    [{ tool: 'shout' }, 'scenario_threw', 'oracle returned the tool the string "shout", which is no tool'],
    [{ tool: 'refund' }, 'scenario_threw', 'oracle: refund needs the argument "order"'],
    [
      { tool: 'refund', arguments: { ...refund, order: 'C-3' } },
      'scenario_threw',
      'refund.order cannot be the string "C-3"',
    ],
    [
      { tool: 'refund', arguments: { ...refund, reason: 'lost' } },
      'scenario_threw',
      'refund.reason cannot be the string "lost"',
    ],
    [
      { tool: 'refund', arguments: { ...refund, how: 1 } },
      'scenario_threw',
      'refund has no parameter the string "how"',
    ],
    [{ tool: 'look', arguments: { far: 1 } }, 'scenario_threw', 'look has no parameter the string "far"'],
    [
      { tool: 'refund', arguments: { ...refund, percent: 101 } },
      'scenario_invalid',
      'action.refund.percent is 101, outside',
    ],
    [
      { tool: 'refund', arguments: { ...refund, percent: 1.5 } },
      'scenario_invalid',
      'refund.percent is 1.5, not an integer',
    ],
    [
      { tool: 'refund', arguments: { ...refund, reason: 'broken' } },
      'scenario_invalid',
      'action.refund.reason is "broken", which is not legal in this state',
    ],
  ])('%j is a fault', (call, code, message) => {
    const fault = faultOf(() =>
      playOracle(
        desk(() => call),
        1,
      ),
    )
    expect(fault).toMatchObject({ code, phase: 'oracle', message: expect.stringContaining(message) })
  })

  test('a tool that cannot be called now is a fault', () => {
    const scenario = desk(() => ({ tool: 'look' }), { available: () => ['refund'] })
    expect(faultOf(() => playOracle(scenario, 1)).message).toBe(
      'oracle\'s action.tool is "look", which is not legal in this state',
    )
  })
})

describe('mistakes', () => {
  const wrong: [Record<string, unknown> | undefined, string][] = [
    [undefined, 'the argument must be an object: { tools, start, … }'],
    [{ start: undefined }, 'start is missing: it must be a function'],
    [{ outcome: 5 }, 'outcome is missing: it must be a function'],
    [{ tools: undefined }, 'tools must be an object: { search: { description, run }, … }'],
    [{ tools: {} }, 'tools is empty: an agent needs at least one'],
    [{ tools: { check: null } }, 'tools.check must be { description, run }'],
    [{ tools: { check: { run: () => ({}) } } }, 'tools.check.description is missing: say what the tool does'],
    [
      { tools: { check: { description: 'x' } } },
      'tools.check.run(state, args, { rng }) is missing: it must be a function',
    ],
    [
      { tools: { tool: { description: 'x', run: () => ({}) } } },
      'tools: the string "tool" cannot name a tool: a letter, then letters, digits, _ or -, at most 64 in all, and not "tool"',
    ],
    [
      { tools: { check: { description: 'x', run: () => ({}), cost: { tokens: -1 } } } },
      'tools.check.cost.tokens must not be negative, got -1',
    ],
    [{ rewards: { right: '10' } }, 'rewards.right must be a finite number, got the string "10"'],
    [{ baselines: undefined }, 'rewards.tokenSaving and rewards.timeSaving need baselines: { tokens, seconds }'],
    [{ baselines: { tokens: 500 } }, 'baselines must be { tokens, seconds }, both positive'],
  ]
  test.each(wrong)('%#', (change, message) => {
    const definition = change === undefined ? change : { ...plain, ...change }
    expect(() => defineToolScenario(definition as never)).toThrow(definitionError(`defineToolScenario: ${message}`))
  })

  const thrown: [Record<string, unknown>, string][] = [
    [{ start: () => undefined }, 'start returned undefined; return the initial state of the episode'],
    [{ outcome: () => Number.NaN }, 'outcome must be a finite number, got NaN'],
    [{ outcome: () => undefined }, 'outcome must be a finite number, got undefined'],
    [{ available: () => ['nothing'] }, 'available returned the string "nothing", which is no tool'],
    [{ available: () => undefined }, 'available must return an array of tool names, got undefined'],
    [run(() => undefined), 'tools.check.run must return an object such as { right: true }, got undefined'],
    [run(() => ({ right: 1 })), 'tools.check.run: right must be a boolean, got 1'],
    [run(() => ({ done: 'yes' })), 'tools.check.run: done must be a boolean, got the string "yes"'],
    [run(() => ({ tokens: -1 })), 'tools.check.run: tokens must not be negative, got -1'],
    [run(() => ({ reward: Number.NaN })), 'tools.check.run: reward must be a finite number, got NaN'],
    [run(async () => ({})), 'tools.check.run must be synchronous'],
  ]
  test.each(thrown)('while it plays %#', (change, message) => {
    const fault = faultOf(() => play(defineToolScenario({ ...plain, maxSteps: 1, ...change } as never), [[0]]))
    expect(fault.code).toBe('scenario_threw')
    expect(fault.message).toContain(message)
  })

  function run(check: unknown) {
    return { available: undefined, tools: { check: { description: 'x', run: check } } }
  }

  test('no tool available is no legal action', () => {
    expect(faultOf(() => play(defineToolScenario({ ...plain, available: () => [] }), [[0]])).code).toBe(
      'no_legal_action',
    )
  })
})
