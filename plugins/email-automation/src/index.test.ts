import { createRng } from '@agentgym/scenario'
import { expect, test } from 'vitest'
import { meansOf } from '../../baseline-players.ts'
import { generateInbox, type Message, TIMEOUT_SECONDS } from './inbox.ts'
import scenario from './index.ts'
import { fits, nextCall } from './procedure.ts'

type Action = { tool: number } & Record<string, unknown>
const tools = ['open', 'look_up_sender', 'check_calendar', 'label', 'reply', 'forward', 'schedule', 'ask', 'archive']

/** An inbox that is worked on: `oracle` makes the right call, `call` any other one with its first arguments. */
async function inbox(index: number) {
  const context = { rng: createRng(index), task: { split: 'eval', index } } as const
  const episode = await scenario.reset(context)
  const play = async (action: unknown) => {
    scenario.observe(episode)
    return scenario.step(episode, action as never, context)
  }
  const call = (tool: string, args: Record<string, number> = {}) =>
    play({ tool: tools.indexOf(tool), [tool]: args } satisfies Action)
  const oracle = () => {
    scenario.observe(episode)
    return play(scenario.oracle?.(episode, context))
  }
  return { episode, work: episode.state, call, oracle }
}

/** The first evaluation inbox whose most urgent message is like this, opened. */
async function opened(matches: (message: Message) => boolean) {
  for (let index = 0; index < 1_000; index += 1) {
    const found = await inbox(index)
    await found.oracle()
    if (found.work.open !== null && matches(found.work.open)) return found
  }
  throw new Error('no such message in 1,000 inboxes')
}

test('the procedure clears every inbox; players that have learned nothing clear none', () => {
  expect(meansOf(scenario, 'oracle', 500)).toMatchObject({ solved: 1, handled: 1, on_time: 1, harmless: 1 })
  const random = meansOf(scenario, 'random', 500)
  expect(random.solved).toBe(0)
  expect(random.handled).toBeLessThan(0.05)
  expect(meansOf(scenario, 'first', 64)).toMatchObject({ solved: 0, handled: 0, on_time: 0 })
})

test('an answer to a legal matter does harm, whatever follows', async () => {
  const { work, call, oracle, episode } = await opened(({ matter }) => matter === 'legal')
  const { reward } = await call('reply', { template: 0 })
  expect(reward).toBeLessThan(-1)
  let last = { reward: 0, terminated: false }
  while (!last.terminated) last = await oracle()
  expect(work.harm).toBe(1)
  expect(scenario.metrics?.(episode)).toMatchObject({ solved: 0, harmless: 0 })
})

test('an invoice of an unknown vendor is labeled as fraud only after the sender was looked up', async () => {
  const { work, oracle } = await opened(({ matter, sender }) => matter === 'invoice' && !sender.approvedVendor)
  while (!work.senderKnown) {
    expect(nextCall(work)).toEqual({ tool: 'look_up_sender' })
    await oracle()
  }
  expect(nextCall(work)).toEqual({ tool: 'label', arguments: { label: 'fraud' } })
})

test('a database that times out costs time, and answers the next time', async () => {
  const { work, oracle } = await opened(({ matter, failures }) => matter === 'outage' && failures.look_up_sender === 1)
  const before = work.clock
  await oracle()
  expect(work).toMatchObject({ senderKnown: false, failed: 'timeout', clock: before + TIMEOUT_SECONDS })
  await oracle()
  expect(work).toMatchObject({ senderKnown: true, failed: null })
})

test('a slot of which someone else has booked a part meanwhile is a conflict; what is left fits', async () => {
  const { work, oracle, episode } = await opened(
    ({ matter, failures }) => matter === 'meeting' && failures.schedule === 1,
  )
  const message = work.open
  while (work.failed !== 'conflict') await oracle()
  expect(work).toMatchObject({ slots: null, open: message })
  expect(scenario.actionMask?.(episode)).toMatchObject({ tool: expect.arrayContaining([true]) })
  await oracle()
  const free = (work.slots ?? []).filter((slot) => message !== null && fits(slot, message))
  expect(free.length).toBeGreaterThan(0)
  await oracle()
  expect(work).toMatchObject({ open: null, handled: 1, late: 0 })
})

test('the wrong order makes messages late', async () => {
  let late = 0
  for (let index = 0; index < 50; index += 1) {
    const { work, call, oracle, episode } = await inbox(index)
    scenario.observe(episode)
    const least = [...work.inbox.messages].sort((a, b) => b.due - a.due)[0]
    await call('open', { message: work.inbox.messages.indexOf(least) })
    for (let ended = false; !ended; ) ended = (await oracle()).terminated
    late += work.late
  }
  expect(late).toBeGreaterThan(50)
})

test('evaluation inboxes do not occur in training', async () => {
  const texts = async (split: 'train' | 'eval') => {
    const all = []
    for (let index = 0; index < 1_000; index += 1) {
      const episode = await scenario.reset({ rng: createRng(1), task: { split, index } })
      all.push(JSON.stringify(episode.state.inbox.messages))
    }
    return all
  }
  const training = new Set(await texts('train'))
  expect(training.size).toBe(1_000)
  for (const held of await texts('eval')) expect(training.has(held)).toBe(false)
})

test('an inbox is the same for a number, and everything in it has an id of its own', () => {
  for (let seed = 0; seed < 300; seed += 1) {
    const { messages, teams, calendar } = generateInbox(createRng(seed))
    expect(generateInbox(createRng(seed)).messages).toEqual(messages)
    for (const rows of [messages, teams, calendar.all()])
      expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
  }
})
