import { readFileSync } from 'node:fs'
import { createRng } from '@agentgym/scenario'
import { describe, expect, test } from 'vitest'
import { meansOf } from '../../baseline-players.ts'
import scenario from './index.ts'
import { type ToolName, tools } from './support-case.ts'
import { kinds } from './tickets/write-ticket.ts'

const HELD = 250
const names = Object.keys(tools) as ToolName[]
const { success } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).agentgym as {
  success: Record<string, number>
}

async function open(index: number, split: 'train' | 'eval' = 'eval') {
  const context = { rng: createRng(index), task: { split, index } } as const
  const episode = await scenario.reset(context)
  const call = async (name: ToolName) => scenario.step(episode, names.indexOf(name), context)
  return { episode, call, supportCase: episode.state }
}

type Opened = Awaited<ReturnType<typeof open>>
/** The next call; the hidden procedure is there for oracles. */
type Policy = (opened: Opened, legal: ToolName[]) => ToolName

function legalTools({ episode }: Opened): ToolName[] {
  const mask = scenario.actionMask?.(episode)
  if (!Array.isArray(mask)) throw new Error('the mask of a discrete space is a list')
  return names.filter((_, index) => mask[index])
}

async function play(index: number, policy: Policy) {
  const opened = await open(index)
  let total = 0
  for (let calls = 0; calls < scenario.maxSteps; calls += 1) {
    const { reward, terminated } = await opened.call(policy(opened, legalTools(opened)))
    total += reward
    if (terminated) break
  }
  return { return: total, metrics: scenario.metrics?.(opened.episode) ?? {} }
}

async function means(policy: Policy): Promise<Record<string, number>> {
  const sums: Record<string, number> = {}
  for (let index = 0; index < HELD; index += 1) {
    const { return: total, metrics } = await play(index, policy)
    for (const [name, value] of Object.entries({ return_mean: total, ...metrics })) {
      sums[name] = (sums[name] ?? 0) + value
    }
  }
  return Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, sum / HELD]))
}

const oracle: Policy = ({ supportCase }) => supportCase.procedure[supportCase.rightCalls]

/** Knows the procedure, but reads the account twice. */
const sloppy: Policy = (opened, legal) => {
  const { procedure, rightCalls } = opened.supportCase
  const justRead = procedure[rightCalls - 1] === 'lookup_user' && opened.episode.progress.step === rightCalls
  return justRead ? 'lookup_user' : oracle(opened, legal)
}

describe('on the held-out tickets', () => {
  test('the right procedure is legal at every step and meets every criterion', async () => {
    const strict: Policy = (opened, legal) => {
      const name = oracle(opened, legal)
      expect(legal).toContain(name)
      return name
    }
    const reached = await means(strict)
    for (const [metric, target] of Object.entries(success)) {
      expect(reached[metric], metric).toBeGreaterThanOrEqual(target)
    }
    expect(reached.solved).toBe(1)
    expect(reached.tool_reliability).toBe(1)
    // A procedure has 4.6 calls on average: 10 each, 10 for the outcome, and what the savings are worth.
    expect(reached.return_mean).toBeGreaterThan(60)
  })

  test('one call too many on each ticket meets none of the three', async () => {
    const reached = await means(sloppy)
    expect(reached.tool_reliability).toBeLessThan(success.tool_reliability)
    expect(reached.cost_reduction).toBeLessThan(success.cost_reduction)
    expect(reached.time_savings).toBeLessThan(success.time_savings)
  })

  test('random legal calls are far below', async () => {
    const rng = createRng(3)
    const reached = await means((_, legal) => rng.pick(legal))
    expect(reached.tool_reliability).toBeLessThan(0.25)
    expect(reached.solved).toBeLessThan(0.15)
    expect(reached.return_mean).toBeLessThan(-40)
  })

  test('the shortest way to close every ticket saves time and tokens, and is no success', async () => {
    const shortest: Policy = (_, legal) =>
      legal.includes('close_ticket') ? 'close_ticket' : legal.includes('send_email') ? 'send_email' : 'lookup_user'
    const reached = await means(shortest)
    expect(reached.time_savings).toBeGreaterThan(success.time_savings)
    expect(reached.cost_reduction).toBeGreaterThan(success.cost_reduction)
    expect(reached.tool_reliability).toBeLessThan(0.5)
    expect(reached.solved).toBe(0)
    expect(reached.return_mean).toBeLessThan(-20)
  })
})

describe('what the agent sees', () => {
  const visible = (opened: Opened) => {
    const sample = scenario.observe(opened.episode)
    if (typeof sample !== 'object' || !('found' in sample)) throw new Error('the observation is a dict')
    const { ticket: _, ...rest } = sample
    return { ...rest, legal: legalTools(opened) }
  }

  test('nothing but the words tells the kind: everything else starts alike', async () => {
    const first = visible(await open(0))
    for (let index = 0; index < HELD; index += 1) expect(visible(await open(index))).toEqual(first)
  })

  test('what is seen depends on the calls and on the customer, not on the kind of ticket', async () => {
    const calls: ToolName[] = ['search_kb', 'lookup_user', 'check_payment', 'check_logs', 'escalate', 'send_email']
    const seen = new Map<string, string>()
    for (let index = 0; index < HELD; index += 1) {
      const opened = await open(index)
      for (const name of calls) await opened.call(name)
      const customer = opened.supportCase.ticket.customer.email + opened.supportCase.ticket.customer.lastPayment.invoice
      const now = JSON.stringify(visible(opened))
      expect(now).toBe(seen.get(customer) ?? now)
      seen.set(customer, now)
    }
    expect(new Set(seen.values()).size).toBe(8)
  })

  test('tools are illegal before the case holds what they need', async () => {
    const opened = await open(0)
    expect(legalTools(opened)).toEqual(['search_kb', 'lookup_user'])
    await opened.call('lookup_user')
    expect(legalTools(opened)).toEqual(names.filter((name) => name !== 'refund' && name !== 'close_ticket'))
    await opened.call('check_payment')
    expect(legalTools(opened)).toEqual(names.filter((name) => name !== 'close_ticket'))
    await opened.call('send_email')
    expect(legalTools(opened)).toEqual(names)
  })
})

describe('a ticket', () => {
  const find = async (kind: (typeof kinds)[number], length: number, last: ToolName) => {
    for (let index = kinds.indexOf(kind); index < HELD; index += kinds.length) {
      const opened = await open(index)
      const { procedure } = opened.supportCase
      if (procedure.length === length && procedure.at(-1) === last) return opened
    }
    throw new Error(`no ${kind} that ends with ${last}`)
  }

  test('is paid 10 a right call, -20 a wrong one, and at its end the outcome and the savings', async () => {
    const { call } = await find('password_reset', 3, 'close_ticket')
    expect(await call('search_kb')).toEqual({ reward: -20, terminated: false })
    expect(await call('lookup_user')).toEqual({ reward: 10, terminated: false })
    expect(await call('send_reset_link')).toEqual({ reward: 10, terminated: false })
    const { reward, terminated } = await call('close_ticket')
    const tokens = 95 + 55 + 50 + 45
    const seconds = 1.2 + 0.7 + 0.7 + 0.6
    expect(reward).toBeCloseTo(10 + 10 + 5 * (1 - tokens / 500) + 3 * (1 - seconds / 240), 9)
    expect(terminated).toBe(true)
  })

  test('closed too early has the outcome -5', async () => {
    const { call, episode } = await find('billing_inquiry', 4, 'close_ticket')
    await call('lookup_user')
    await call('send_email')
    expect(await call('close_ticket')).toEqual({ reward: -20 - 5, terminated: true })
    expect(scenario.metrics?.(episode)).toMatchObject({ solved: 0, tool_reliability: 1 / 3 })
  })

  test('whose payment is not refundable goes to the specialists', async () => {
    const { call, episode } = await find('refund', 5, 'update_ticket')
    for (const name of ['lookup_user', 'check_payment', 'escalate', 'send_email'] as const) await call(name)
    expect((await call('update_ticket')).terminated).toBe(true)
    expect(scenario.metrics?.(episode)).toMatchObject({ solved: 1, tool_reliability: 1 })
  })

  test('is not solved where money was paid back that was not due', async () => {
    const { call, episode } = await find('refund', 5, 'update_ticket')
    for (const name of ['lookup_user', 'check_payment', 'refund', 'escalate', 'send_email'] as const) await call(name)
    expect((await call('update_ticket')).reward).toBe(10 - 5)
    expect(scenario.metrics?.(episode)).toMatchObject({ solved: 0 })
  })

  test('is given up after twelve calls', async () => {
    const { call, episode } = await open(1)
    for (let calls = 0; calls < 11; calls += 1) await call('search_kb')
    expect(await call('search_kb')).toEqual({ reward: -20 - 5, terminated: true })
    expect(scenario.metrics?.(episode)).toMatchObject({ solved: 0 })
  })
})

test('keyword rules solve most held-out tickets, and not all', () => {
  const { solved, tool_reliability: reliability } = meansOf(scenario, 'rules', 1_024)
  expect(solved).toBeGreaterThan(0.9)
  expect(solved).toBeLessThan(1)
  expect(reliability).toBeGreaterThan(0.9)
})
