import { randomUUID } from 'node:crypto'
import { integrityOf } from '@agentgym/client'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { goodAgent } from '../../../../testdata/tarballs/good-agent.ts'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { buy, createTrader, fund, setListPrice } from '../orders/testing/marketplace.ts'
import { openTarball } from '../packages/packument.ts'
import { createActor } from '../packages/testing/publishing.ts'
import {
  cancelWaiting,
  publishAgent,
  type RunServer,
  rowsWritten,
  runIn,
  startRunServer,
  tokenOf,
} from './test/run-server.ts'
import { type Turn, takeTurn } from './testing/train.ts'
import { openLeasedTarball } from './train-jobs.ts'

describeOnEngines('runs that start from an agent on $kind', ({ open }) => {
  let database: Database
  let server: RunServer
  let seller: Actor
  let free: string
  let paid: string
  beforeAll(async () => {
    database = await open()
    server = await startRunServer(database)
    seller = await createTrader(database, 'seller')
    free = await publishAgent(server.training, seller, { base: 'free', versions: ['1.0.0', '1.1.0', '2.0.0'] })
    paid = await publishAgent(server.training, seller, { base: 'paid', versions: ['1.0.0'] })
    const { id } = await database.query
      .selectFrom('packages')
      .select('id')
      .where('name', '=', paid)
      .executeTakeFirstOrThrow()
    await setListPrice(database, { id, ownerId: seller.accountId }, { kind: 'one_time', amountMinor: 300 })
    const yanked = database.query.updateTable('versions').set({ yanked_at: new Date() })
    await yanked.where('version', '=', '2.0.0').execute()
  })
  afterAll(async () => {
    await server?.close()
    await database?.close()
  })

  const start = (json: Record<string, unknown>, token = server.token, key?: string) =>
    server.call('POST', '/v1/runs', {
      json: { scenario: server.training.scenario, ...json },
      headers: key === undefined ? {} : { 'idempotency-key': key },
      token,
    })

  const fail = (turn?: Turn) => turn?.end({ state: 'failed', error: { code: 'scenario_threw', message: 'It threw.' } })

  describe('what it starts from', () => {
    it('is fixed at submission, with the algorithm and the network of the agent', async () => {
      const run = runIn(await start({ from: `${free}@^1.0.0`, settings: { gamma: 0.9 } }))
      const { model_hash, policy } = goodAgent
      expect(run.parent).toEqual({ name: free, version: '1.1.0', model_hash, license: 'MIT' })
      expect(run.algorithm).toBe('a2c')
      expect(run.settings).toMatchObject({ gamma: 0.9, hidden: policy.hidden, activation: policy.activation })
      const { body } = await server.call('GET', `/v1/runs/${run.id}`, { token: server.token })
      expect(body).toEqual(run)
      await cancelWaiting(server.training)
    })

    it('reaches the worker through its lease', async () => {
      const run = runIn(await start({ from: `${free}@1.0.0` }))
      const turn = await takeTurn(server.training, 0)
      expect(turn?.job.id).toBe(run.id)
      if (turn === undefined) return
      const { from } = turn.job.run
      expect(from).toMatchObject({ name: free, version: '1.0.0', model_hash: goodAgent.model_hash })
      expect(from?.tarball_url).toBe(`${server.url}/v1/jobs/${run.id}/parent`)
      const read = async () => {
        const { body } = await openLeasedTarball(server.training.services, run.id, turn.job.lease, 'parent')
        return integrityOf(Buffer.concat(await Array.fromAsync(body)))
      }
      expect(await read()).toBe(from?.integrity)
      await fail(turn)
      await expect(read()).rejects.toMatchObject({ code: 'lease_lost' })
    })

    it('is null of any other run, whose worker gets none', async () => {
      expect(runIn(await start({})).parent).toBeNull()
      const turn = await takeTurn(server.training, 0)
      expect(turn?.job.run.from).toBeNull()
      await fail(turn)
    })

    it('belongs to what an idempotency key stands for', async () => {
      const key = randomUUID()
      const first = runIn(await start({ from: `${free}@^1.0.0` }, server.token, key))
      expect(runIn(await start({ from: `${free}@^1.0.0` }, server.token, key)).id).toBe(first.id)
      expect((await start({ from: free }, server.token, key)).code).toBe('idempotency_key_reused')
      expect((await start({}, server.token, key)).code).toBe('idempotency_key_reused')
      await cancelWaiting(server.training)
    })

    it('is a parameter of JSON-RPC, too', async () => {
      const params = { scenario: server.training.scenario, from: free }
      const json = { jsonrpc: '2.0', id: 1, method: 'training.start', params }
      const { body } = await server.call('POST', '/rpc', { json, token: server.token })
      expect(body.result).toMatchObject({ parent: { name: free, version: '1.1.0' } })
      await cancelWaiting(server.training)
    })
  })

  describe('an agent that the user may not have', () => {
    it.each<[string, () => string, number, string]>([
      ['is not there', () => '@nobody/nothing', 404, 'package_not_found'],
      ['has no such version', () => `${free}@9.9.9`, 404, 'version_not_found'],
      ['is yanked', () => `${free}@2.0.0`, 409, 'version_yanked'],
      ['is a scenario', () => server.training.scenario, 422, 'request_invalid'],
      ['is not bought', () => paid, 402, 'payment_required'],
    ])('%s: nothing is written', async (_, from, status, code) => {
      const before = await rowsWritten(database)
      const answer = await start({ from: from() })
      expect({ status: answer.status, code: answer.code }).toEqual({ status, code })
      expect(await rowsWritten(database)).toEqual(before)
    })

    it('is refused as its download is; once bought, training from it uses the license', async () => {
      const { services } = server.training
      const buyer = await createTrader(database, 'buyer')
      const token = await tokenOf(server.training, buyer, ['training:start', 'packages:read'])
      const download = openTarball(services, buyer, { name: paid, version: '1.0.0', use: false })
      const refused = await download.then(
        () => undefined,
        (error: Error) => error.message,
      )
      expect((await start({ from: paid }, token)).body.error).toMatchObject({ message: refused })
      await fund(database, buyer.accountId, 1_000)
      const { order } = await buy(services, buyer, { name: paid })
      expect(runIn(await start({ from: paid }, token)).parent).toMatchObject({ name: paid })
      const { used_at: usedAt } = await database.query
        .selectFrom('entitlements')
        .select('used_at')
        .where('order_id', '=', order.id)
        .executeTakeFirstOrThrow()
      expect(usedAt).not.toBeNull()
      const blind = await tokenOf(server.training, buyer, ['training:start'])
      expect((await start({ from: paid }, blind)).code).toBe('payment_required')
    })

    it('its own account starts from it without a purchase, and a stranger not from a private one', async () => {
      const token = await tokenOf(server.training, seller, ['training:start', 'packages:read'])
      expect((await start({ from: paid }, token)).status).toBe(201)
      const hidden = await createActor(database)
      const secret = await publishAgent(server.training, hidden, { base: 'secret', versions: ['1.0.0'] })
      await database.query.updateTable('packages').set({ visibility: 'private' }).where('name', '=', secret).execute()
      expect((await start({ from: secret })).code).toBe('package_not_found')
    })
  })
})
