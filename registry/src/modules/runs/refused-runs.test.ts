import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { createActor, publish, upload } from '../packages/testing/publishing.ts'
import { type RunServer, rowsWritten, startRunServer, tokenOf } from './test/run-server.ts'

describeOnEngines('runs that are refused on $kind', ({ open }) => {
  let database: Database
  let server: RunServer
  let scenario: string
  beforeAll(async () => {
    database = await open()
    server = await startRunServer(database)
    scenario = server.training.scenario
    const { services, ada } = server.training
    await publish(services, ada, '0.9.0')
    const yanked = database.query.updateTable('versions').set({ yanked_at: new Date() }).where('version', '=', '0.9.0')
    await yanked.execute()
    await upload(services, ada, '2.0.0')
  })
  afterAll(async () => {
    await server?.close()
    await database?.close()
  })

  const post = (path: string, json: unknown, headers: Record<string, string> = {}) =>
    server.call('POST', path, { json, headers, token: server.token })
  describe('refused requests leave nothing', () => {
    it.each<[string, Record<string, unknown>, number, string]>([
      ['an unknown scenario', { scenario: '@nobody/nothing' }, 404, 'package_not_found'],
      ['a version that is not there', { scenario: 'SCENARIO@9.9.9' }, 404, 'version_not_found'],
      ['a range that nothing fits', { scenario: 'SCENARIO@^9' }, 404, 'version_not_found'],
      ['a yanked version', { scenario: 'SCENARIO@0.9.0' }, 409, 'version_yanked'],
      ['one that is being checked', { scenario: 'SCENARIO@2.0.0' }, 409, 'version_not_published'],
      ['a budget below nothing', { budget_minor: -5 }, 422, 'request_invalid'],
      ['a budget of nothing', { budget_minor: 0 }, 422, 'request_invalid'],
      ['a budget in parts', { budget_minor: 1.5 }, 422, 'request_invalid'],
      ['an unknown field', { bugdet_minor: 5 }, 422, 'request_invalid'],
      ['no scenario', { scenario: undefined }, 422, 'request_invalid'],
      ['a scenario that is a number', { scenario: 7 }, 422, 'request_invalid'],
      ['a seed beyond 32 bits', { seed: 2 ** 32 }, 422, 'request_invalid'],
      ['a NUL in the note', { note: 'a\u0000b' }, 422, 'request_invalid'],
      ['half a letter in the note', { note: '\ud800' }, 422, 'request_invalid'],
      ['a NUL in the scenario', { scenario: '@a/b\u0000' }, 422, 'request_invalid'],
      ['an unknown algorithm', { algorithm: 'magic' }, 400, 'config_invalid'],
      ['an unknown setting', { settings: { gama: 0.9 } }, 400, 'config_invalid'],
      ['a setting of another algorithm', { settings: { group_size: 8 } }, 400, 'config_invalid'],
      ['a setting out of range', { settings: { gamma: 99 } }, 400, 'config_invalid'],
      ['a setting that is an object', { settings: { gamma: { deep: {} } } }, 422, 'request_invalid'],
      ['a setting of the prototype', { settings: { constructor: 1 } }, 400, 'config_invalid'],
      ['an account that nobody has', { account: 'nobody-at-all' }, 404, 'account_not_found'],
      ['a name that cannot be published', { publish: { name: 'agent' } }, 422, 'name_invalid'],
      ['a scope that nobody has', { publish: { name: '@nobody-at-all/x' } }, 403, 'forbidden'],
      ["a scenario's name to publish under", { publish: { name: 'SCENARIO' } }, 409, 'package_kind_changed'],
      ['a version that is none', { publish: { name: '@OWN/agent', version: '1.0.0-' } }, 422, 'version_invalid'],
      ['a look-alike of a name', { publish: { name: '@OWN/ma-ze' } }, 409, 'name_taken'],
    ])('%s', async (_, changes, status, code) => {
      const { ada } = server.training
      const text = JSON.stringify({ scenario: 'SCENARIO', ...changes })
      const body = text.replaceAll('SCENARIO', scenario).replaceAll('@OWN', `@${ada.username}`)
      const before = await rowsWritten(database)
      const answer = await server.call('POST', '/v1/runs', { body, token: server.token })
      expect({ status: answer.status, code: answer.code }).toEqual({ status, code })
      expect(await rowsWritten(database)).toEqual(before)
    })
    it.each([
      ['no JSON', '{"scenario":'],
      ['a list', '[]'],
      ['nothing', ''],
      ['too deep', `{"scenario":"@a/b","settings":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`],
    ])('a body that is %s', async (_, body) => {
      const before = await rowsWritten(database)
      const answer = await server.call('POST', '/v1/runs', { body, token: server.token })
      expect([400, 422]).toContain(answer.status)
      expect(answer.code).toBe('request_invalid')
      expect(await rowsWritten(database)).toEqual(before)
    })

    it('names the nearest setting, the scenario and its version', async () => {
      const { body } = await post('/v1/runs', { scenario, settings: { gama: 0.9 } })
      expect(body.error).toMatchObject({
        message: expect.stringContaining(`${scenario}@1.0.0`),
        hint: expect.stringContaining('Did you mean gamma?'),
        data: { field: 'gama', suggestion: 'gamma' },
      })
    })

    it('another user’s private scenario is not found', async () => {
      const { services } = server.training
      const eve = await createActor(database)
      await publish(services, eve, '1.0.0', { base: 'secret', visibility: 'private' })
      const request = { scenario: `@${eve.username}/secret` }
      expect((await post('/v1/runs', request)).code).toBe('package_not_found')
      const token = await tokenOf(server.training, eve, ['training:start', 'packages:read'])
      expect((await server.call('POST', '/v1/runs', { json: request, token })).status).toBe(201)
      const blind = await tokenOf(server.training, eve, ['training:start'])
      expect((await server.call('POST', '/v1/runs', { json: request, token: blind })).code).toBe('package_not_found')
    })
  })
})
