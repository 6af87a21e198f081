// @module-tag full
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import {
  balanceSchema,
  earningsSchema,
  evaluationSchema,
  orderListSchema,
  orderSchema,
  packagePageSchema,
  paymentSchema,
  pricePageSchema,
} from '@agentgym/contract'
import { writeReadme } from '@agentgym/testkit/command-line'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { callApi } from '../src/registry/call-api.ts'
import { available, done, listedOrder, newestOrder, output, refusal } from './market-people.ts'
import { openRegistry, type Person, type Registry } from './registry-people.ts'
import { typeOnTerminal } from './type-on-terminal.ts'

const command = fileURLToPath(new URL('../../../agentgym', import.meta.url))
const agent = '@ann/puck-ppo'
const scenario = '@ann/puck'

let registry: Registry
let ann: Person
let bob: Person
let carol: Person
beforeAll(async () => {
  registry = await openRegistry()
  ann = registry.person('ann')
  bob = registry.person('bob')
  carol = registry.person('carol')
  for (const person of [ann, bob, carol]) await person.join()
  await done(ann, ['scenario', 'init', 'puck', '--yes', '--name', scenario])
  writeReadme(join(ann.work, 'puck'))
  await done(ann, ['scenario', 'publish', 'puck'])
  await done(ann, ['train', scenario, '--steps', '4096', '--set', 'evaluation_episodes=20'])
  await done(ann, ['agent', 'publish', 'puck', '--name', agent, '--summary', 'Holds the puck.'])
}, 600_000)
afterAll(() => registry?.close())

/** The command on a terminal, where it asks. */
async function onTerminal(
  person: Person,
  words: string,
  typing: { keys: string; when: string; before?: () => Promise<unknown> },
): Promise<string> {
  const environment = {
    AGENTGYM_HOME: person.home,
    AGENTGYM_SERVER: registry.server.url,
    npm_config_userconfig: person.npmrc,
  }
  const output = await typeOnTerminal(`'${command}' ${words}`, { ...typing, environment, cwd: person.work })
  registry.outputs.push(output)
  return stripVTControlCharacters(output)
}

describe('a price', { timeout: 300_000 }, () => {
  it('is free by default, and is set for all versions', async () => {
    expect(pricePageSchema.parse(await done(ann, ['price', agent])).current).toMatchObject({ kind: 'free' })
    expect(await output(bob, ['price', agent])).toMatch(/^Price of @ann\/puck-ppo\n {2}now {2}free$/m)
    expect(await refusal(ann, ['price', `${agent}@0.1.0`, '5'])).toMatchObject({ status: 2, code: 'usage_invalid' })
    expect(await refusal(bob, ['price', agent, '5', '--yes'])).toMatchObject({ status: 1, code: 'forbidden' })
  })

  it.each([['12,50'], ['0'], ['12.505'], ['12.50/day']])('%j is invalid', async (text) => {
    const { status, code } = await refusal(ann, ['price', agent, '--yes', text])
    expect([status, code]).toEqual([2, 'config_invalid'])
  })

  it('is raised only after confirmation', async () => {
    const { status, code, hint } = await refusal(ann, ['price', agent, '12.50'])
    expect([status, code, hint]).toEqual([2, 'usage_invalid', expect.stringContaining('--yes')])
    expect(pricePageSchema.parse(await done(ann, ['price', agent])).current.kind).toBe('free')
    writeFileSync(join(ann.work, 'terms.txt'), 'One product.\nNo resale.\n')
    const words = ['price', agent, '12.50', '--trial', '5', '--terms', 'terms.txt', '--yes']
    const page = pricePageSchema.parse(await done(ann, words))
    expect(page).toMatchObject({ current: { kind: 'one_time', amount_minor: 1250 }, terms: 'One product.\nNo resale.' })
    expect(page).toMatchObject({ trial_calls: 5, upcoming: null })
    expect(await output(bob, ['search', 'puck-ppo'])).toContain('$12.50')
    expect(await output(bob, ['info', agent])).toMatch(/price +\$12\.50.*→ Buy it: agentgym buy @ann\/puck-ppo\n$/s)
  })

  it('is not changed by terms alone', async () => {
    const address = `${registry.server.url}/v1/packages/${scenario}`
    const scenarioPage = async () => packagePageSchema.parse(await (await fetch(address)).json())
    await (await fetch((await scenarioPage()).latest?.tarball ?? '')).arrayBuffer()
    await expect.poll(async () => (await scenarioPage()).downloads, { timeout: 60_000 }).toBe(1)
    const page = pricePageSchema.parse(await done(ann, ['price', scenario, '--royalty', '7.5']))
    // The scenario has been downloaded, so the royalty is announced.
    expect(page).toMatchObject({ current: { kind: 'free' }, upcoming_terms: { royalty_basis_points: 750 } })
    expect(await output(bob, ['price', scenario])).toMatch(/new terms +royalty 7\.5%/)
    expect(await refusal(ann, ['price', scenario, '--royalty', '101'])).toMatchObject({ status: 2 })
    expect(await refusal(ann, ['price', agent, '--terms', 'none.txt'])).toMatchObject({ code: 'file_not_found' })
  })
})

describe('buying', { timeout: 300_000 }, () => {
  it('refuses installation before the purchase, with the command and page', async () => {
    for (const words of [
      ['install', agent],
      ['agent', 'install', agent],
      ['agent', 'verify', agent],
    ]) {
      const { status, lines } = await bob.run([...words, '--json'])
      const { error } = lines.at(-1) as { error: { code: string; message: string; data: object } }
      expect([status, error.code]).toEqual([1, 'payment_required'])
      expect(error.data).toMatchObject({ package: `${agent}@0.1.0`, command: `agentgym buy ${agent}@0.1.0` })
      expect(error.message).toContain('agentgym buy @ann/puck-ppo')
      expect(error.message).toContain(`${registry.server.url}/packages/${agent}`)
    }
    expect(existsSync(join(bob.work, 'agentgym.lock'))).toBe(false)
  })

  it('needs an account, funds, and a confirmation', async () => {
    const stranger = { AGENTGYM_HOME: join(registry.folder, 'nobody') }
    expect(await refusal(bob, ['buy', agent, '--yes'], stranger)).toMatchObject({ code: 'unauthenticated' })
    expect(await refusal(bob, ['buy', agent, '--yes'])).toMatchObject({
      status: 1,
      code: 'insufficient_funds',
      hint: expect.stringContaining('agentgym balance top-up 12.50'),
    })
    expect(await output(bob, ['balance', 'top-up', '20'])).toMatch(/Added \$20\.00\. The balance of bob is \$20\.00/)
    expect(await refusal(bob, ['buy', agent])).toMatchObject({ status: 2, code: 'usage_invalid' })
    expect(await refusal(bob, ['buy', agent, '--max', '12.49'])).toMatchObject({ code: 'spend_cap_exceeded' })
    expect(await refusal(bob, ['buy', agent, '--max', 'x'])).toMatchObject({ status: 2, code: 'config_invalid' })
    const human = await bob.run(['buy', agent])
    expect(human.status).toBe(2)
    expect(human.stdout).toMatch(/total +\$12\.50 for all 0\.x versions of this agent/)
    expect(human.stdout).toMatch(/balance +\$20\.00 → \$7\.50 after purchase/)
    expect(human.stdout).toMatch(/evaluation +✓ verified, return .*verify it +agentgym agent verify @ann\/puck-ppo/s)
    expect(human.stdout).toMatch(/terms +One product\./)
    expect(human.stderr.replace(/\s+/g, ' ')).toContain('Use --yes to skip')
    expect(balanceSchema.parse(await done(bob, ['balance']))).toMatchObject({ available_minor: 2000 })
  })

  it('asks on a terminal, and accepts no', async () => {
    const output = await onTerminal(bob, `buy ${agent}`, { keys: 'n', when: 'Buy @ann/puck-ppo@0.1.0 for' })
    expect(output).toContain('Nothing was bought.')
    expect(await available(bob)).toBe(2000)
  })

  it('buys at the shown price or not at all, even after a price cut', async () => {
    const output = await onTerminal(bob, `buy ${agent}`, {
      keys: 'y',
      when: 'for $12.50?',
      before: () => done(ann, ['price', agent, '10']),
    })
    expect(output).toMatch(/price_changed\s*$/)
    expect(output.replace(/\s+/g, ' ')).toContain('Review the new price: agentgym buy @ann/puck-ppo')
    expect(await available(bob)).toBe(2000)
  })

  it('happens once, even when repeated concurrently', async () => {
    const buys = await Promise.all([1, 2, 3].map(() => bob.run(['buy', agent, '--json', '--max', '10'])))
    for (const { status, stdout } of buys) expect(status, stdout).toBe(0)
    expect(await available(bob)).toBe(1000)
    expect(await done(bob, ['buy', agent, '--yes'])).toMatchObject({ ok: true, already: true, order: null })
    expect(await output(bob, ['buy', agent])).toMatch(/You already own @ann\/puck-ppo 0\.x; nothing was bought/)
    expect(orderListSchema.parse(await done(bob, ['orders'])).orders).toMatchObject([
      { state: 'paid', package: agent, total_minor: 1000, buyer: 'bob', seller: 'ann' },
    ])
    expect(await available(bob)).toBe(1000)
  })

  it('gives the verified agent: the same trajectories, with the buyer’s own token', async () => {
    await done(bob, ['agent', 'install', agent])
    const { claim } = (await done(bob, ['agent', 'verify', agent])) as { claim: { expected: unknown } }
    const { episodes, seed, trajectory_hash } = evaluationSchema.parse(claim.expected)
    const words = ['eval', agent, '--episodes', `${episodes}`, '--seed', `${seed}`]
    expect(evaluationSchema.parse(await done(bob, words)).trajectory_hash).toBe(trajectory_hash)
  })

  it('is refused without access, and needless for the seller', async () => {
    const { id } = await newestOrder(bob)
    expect(await refusal(carol, ['orders', 'show', id])).toMatchObject({ code: 'order_not_found' })
    expect(await refusal(carol, ['orders', 'show', id.replace(/^./, '0')])).toMatchObject({ code: 'order_not_found' })
    expect(await refusal(carol, ['install', agent])).toMatchObject({ code: 'payment_required' })
    expect(await done(ann, ['buy', agent, '--yes'])).toMatchObject({ already: true })
  })
})

describe('a top-up', { timeout: 300_000 }, () => {
  it('is refused with the provider’s reason', async () => {
    const words = ['balance', 'top-up', '5', '--test-outcome', 'declined']
    expect(await refusal(bob, words)).toMatchObject({ status: 1, code: 'payment_declined' })
    expect(await refusal(bob, ['balance', 'top-up', '5.001'])).toMatchObject({ status: 2, code: 'config_invalid' })
    expect(await refusal(bob, ['balance', 'top-up', '5', '--org', 'ann'])).toMatchObject({ status: 1 })
  })

  it('waits for payment in the browser', async () => {
    const left = await done(bob, ['balance', 'top-up', '5', '--test-outcome', 'pending', '--no-wait'])
    const { checkout_url: address } = paymentSchema.parse(left)
    expect(address).toContain(registry.server.url)
    const shown = await output(bob, ['balance'])
    expect(shown).toMatch(/pending +\$5\.00/)
    expect(shown).toContain(`Pay at: ${address}`)
    const before = await available(bob)
    const waiting = bob.run(['balance', 'top-up', '7', '--test-outcome', 'pending'])
    await expect.poll(async () => (await awaited(bob))?.amount_minor, { timeout: 30_000 }).toBe(700)
    await pay((await awaited(bob))?.checkout_url ?? '')
    const { status, stdout } = await waiting
    expect([status, stdout]).toEqual([0, expect.stringContaining('Added $7.00')])
    expect(await available(bob)).toBe(before + 700)
  })
})

async function awaited(person: Person) {
  const answer = z.object({ payments: z.array(paymentSchema) })
  const { payments } = await callApi(person.connection(), { path: '/v1/payments', answer })
  return payments.find(({ state }) => state === 'pending')
}

/** As a person does on the page of the provider `test`. */
async function pay(address: string): Promise<void> {
  const fields = new URLSearchParams(new URL(address).search)
  fields.set('outcome', 'pay')
  const origin = registry.server.url
  const { status } = await fetch(`${origin}/test-checkout`, { method: 'POST', headers: { origin }, body: fields })
  expect(status).toBe(200)
}

describe('a sale', { timeout: 300_000 }, () => {
  it('is shown to the seller, with fee and entries', async () => {
    const earnings = earningsSchema.parse(await done(ann, ['earnings']))
    expect(earnings).toMatchObject({ sales_minor: 1000, fees_minor: 100, balance_minor: 900, cleared_minor: 0 })
    expect(await output(ann, ['orders', '--sales'])).toMatch(/✓ paid +@ann\/puck-ppo 0\.x +\$10\.00.* bob/)
    expect(await output(ann, ['earnings'])).toMatch(/sale +\$9\.00 +@ann\/puck-ppo +\$10\.00 +-\$1\.00/)
    await done(ann, ['earnings', '--csv', 'earnings.csv'])
    expect(readFileSync(join(ann.work, 'earnings.csv'), 'utf8').split('\n')[1]).toContain(',sale,')
    expect((await ann.run(['earnings', '--csv', '-'])).stdout).toBe(
      readFileSync(join(ann.work, 'earnings.csv'), 'utf8'),
    )
    expect(await refusal(ann, ['earnings', '--csv', '-'])).toMatchObject({ status: 2, code: 'usage_invalid' })
  })

  it('is paid out once cleared, to the payout destination', async () => {
    expect(await refusal(ann, ['earnings', 'payout'])).toMatchObject({
      code: 'payout_not_ready',
      hint: expect.stringContaining('agentgym earnings set-up'),
    })
    expect(await done(ann, ['earnings', 'set-up'])).toMatchObject({ ready: true })
    expect(await refusal(ann, ['earnings', 'payout', '1'])).toMatchObject({ code: 'payout_below_cleared' })
  })

  it('is refunded in part, once per reason, and in full', async () => {
    const { id } = await listedOrder(ann, '--sales')
    const part = ['orders', 'refund', id.slice(0, 8), '--amount', '2.50', '--reason', 'goodwill']
    expect(orderSchema.parse(await done(ann, part))).toMatchObject({ state: 'paid', refunded_minor: 250 })
    expect(await output(ann, part)).toContain('already has this refund; nothing was refunded again')
    expect(await refusal(bob, ['orders', 'refund', id, '--reason', 'mine'])).toMatchObject({ code: 'refund_refused' })
    const whole = await done(ann, ['orders', 'refund', id, '--reason', 'does not do it'])
    expect(orderSchema.parse(whole)).toMatchObject({ state: 'refunded', refunded_minor: 1000 })
    expect(earningsSchema.parse(await done(ann, ['earnings']))).toMatchObject({ balance_minor: 0, fees_minor: 0 })
    expect(await output(bob, ['orders', 'show', id.slice(0, 8)])).toMatch(/refund +\$2\.50 by ann on .*: goodwill/)
    const elsewhere = { AGENTGYM_HOME: join(registry.folder, 'bob-elsewhere'), AGENTGYM_TOKEN: bob.storedToken() }
    expect(await refusal(bob, ['install', agent], elsewhere)).toMatchObject({ code: 'payment_required' })
  })

  it('can be bought again after a refund', async () => {
    const before = await available(bob)
    expect(await done(bob, ['buy', agent, '--yes'])).toMatchObject({ already: false })
    expect(await available(bob)).toBe(before - 1000)
    const { id } = await newestOrder(bob)
    expect(await done(bob, ['orders', 'refund', id, '--reason', 'not used'])).toMatchObject({ state: 'refunded' })
  })
})

it('tokens and passwords are never printed', () => {
  for (const output of [...registry.outputs, registry.server.output()]) {
    for (const secret of registry.secrets) expect(output).not.toContain(secret)
  }
})
