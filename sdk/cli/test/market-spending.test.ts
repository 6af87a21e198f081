// @module-tag full
import { join } from 'node:path'
import { spendCapListSchema } from '@agentgym/contract'
import { writeReadme } from '@agentgym/testkit/command-line'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { withSession } from '../src/account/log-in.ts'
import { callApi } from '../src/registry/call-api.ts'
import { available, done, listedOrder, newestOrder, output, refusal } from './market-people.ts'
import { openRegistry, type Person, password, type Registry } from './registry-people.ts'

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
  await done(ann, ['price', scenario, '20', '--yes'])
}, 300_000)
afterAll(() => registry?.close())

describe('spending for others', { timeout: 300_000 }, () => {
  it('a token cannot exceed or remove its cap', async () => {
    await done(carol, ['balance', 'top-up', '50'])
    const create = [
      'token',
      'create',
      'robot',
      '--username',
      'carol',
      '--scope',
      'market:buy',
      '--scope',
      'packages:read',
    ]
    const { token } = (await done(carol, create)) as { token: string }
    registry.secrets.push(token)
    await done(carol, ['spend-cap', 'set', '5', '--period', 'month', '--token', 'robot'])
    const robot = { AGENTGYM_TOKEN: token, AGENTGYM_PASSWORD: '' }
    expect(await refusal(carol, ['buy', scenario, '--yes'], robot)).toMatchObject({ code: 'spend_cap_exceeded' })
    const lift = ['spend-cap', 'set', '500', '--period', 'month', '--token', 'robot']
    expect(await refusal(carol, lift, robot)).toMatchObject({ status: 2, code: 'usage_invalid' })
    const { caps } = spendCapListSchema.parse(await done(carol, ['spend-cap']))
    expect(caps).toMatchObject([{ token: { name: 'robot' }, amount_minor: 500, spent_minor: 0 }])
    await done(carol, ['spend-cap', 'remove', caps[0].id.slice(0, 8)])
    expect(await output(carol, ['spend-cap'])).toContain('agentgym spend-cap set')
  })

  it('an organisation buys for its members', async () => {
    const { server } = registry
    await withSession(server.url, { username: 'bob', password, code: async () => '' }, async (connection, headers) => {
      const put = { headers, answer: z.any() }
      await callApi(connection, { ...put, method: 'POST', path: '/v1/organisations', json: { username: 'acme' } })
      const path = '/v1/organisations/acme/members/carol'
      await callApi(connection, { ...put, method: 'PUT', path, json: { role: 'viewer' } })
    })
    await withSession(
      server.url,
      { username: 'carol', password, code: async () => '' },
      async (connection, headers) => {
        const accept = { method: 'PUT' as const, path: '/v1/invitations/acme', json: { role: 'viewer' }, headers }
        await callApi(connection, { ...accept, answer: z.any() })
      },
    )
    await done(bob, ['balance', 'top-up', '20', '--org', 'acme'])
    expect(await refusal(carol, ['buy', scenario, '--org', 'acme', '--yes'])).toMatchObject({
      status: 1,
      code: 'forbidden',
    })
    expect(await done(bob, ['buy', scenario, '--org', 'acme', '--yes'])).toMatchObject({ order: { buyer: 'acme' } })
    expect(await done(bob, ['balance', '--org', 'acme'])).toMatchObject({ account: 'acme', available_minor: 0 })
    await done(carol, ['install', scenario])
    expect(await listedOrder(bob, '--org', 'acme')).toMatchObject({ buyer: 'acme', placed_by: 'bob' })
  })
})

describe('a scenario with a price per run', { timeout: 300_000 }, () => {
  const short = ['--steps', '2048', '--set', 'evaluation_episodes=5']

  it('offers no download, and trains for users who accept its price', async () => {
    await done(ann, ['scenario', 'init', 'hosted', '--yes', '--name', '@ann/hosted'])
    writeReadme(join(ann.work, 'hosted'))
    await done(ann, ['scenario', 'publish', 'hosted'])
    await done(ann, ['price', '@ann/hosted', '0.50/run', '--yes'])
    expect(await output(carol, ['info', '@ann/hosted'])).toMatch(/price +\$0\.50 a run/)
    expect(await refusal(carol, ['install', '@ann/hosted'])).toMatchObject({ code: 'hosted_only' })
    expect(await refusal(carol, ['train', '@ann/hosted', ...short])).toMatchObject({ code: 'hosted_only' })
    expect(await refusal(carol, ['buy', '@ann/hosted', '--yes'])).toMatchObject({ code: 'not_for_sale' })
    const words = ['train', '@ann/hosted', '--remote', '--watch', ...short]
    expect(await refusal(carol, words)).toMatchObject({ status: 2, code: 'usage_invalid' })
    const before = await available(carol)
    await done(carol, [...words, '--yes'])
    expect(await available(carol)).toBe(before - 50)
    const order = await newestOrder(carol)
    expect(order).toMatchObject({ state: 'paid', price_kind: 'per_run', total_minor: 50 })
    expect(await output(carol, ['orders', 'show', order.id])).toMatch(/→ Training run: agentgym runs show \w{8}\n$/)
  })
})

it('tokens and passwords are never printed', () => {
  for (const output of [...registry.outputs, registry.server.output()]) {
    for (const secret of registry.secrets) expect(output).not.toContain(secret)
  }
})
