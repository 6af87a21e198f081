import { describeOnEngines } from '@agentgym/testkit/databases'
import type { TestServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { yankVersion } from '../packages/change-versions.ts'
import { publish } from '../packages/testing/publishing.ts'
import { bestReturns } from './leaderboard.ts'
import { openVerification, verifyAgent } from './testing/verifying.ts'

describeOnEngines('best returns of a list on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let ada: Actor
  let close: () => Promise<void>

  beforeAll(async () => {
    ;({ database, services, ada, close } = await openVerification(open))
    await publish(services, ada, '1.0.0', { base: 'empty' })
  })
  afterAll(() => close())

  const agent = (base: string, return_mean: number, more: object = {}) =>
    verifyAgent(services, ada, { base, heldOut: { return_mean, success: missed }, ...more })
  const missed = { ok: false, criteria: [{ metric: 'return_mean', target: 1, value: 0.5, ok: false }] }
  /** By the packages' names, without their scope. */
  const best = async (...bases: string[]) => {
    const names = bases.map((base) => `@${ada.username}/${base}`)
    const rows = await database.query.selectFrom('packages').select(['id', 'name']).where('name', 'in', names).execute()
    const found = await bestReturns(
      database.query,
      rows.map(({ id }) => id),
    )
    return Object.fromEntries(
      rows.flatMap(({ id, name }) => {
        const one = found.get(id)
        return one === undefined ? [] : [[name.split('/')[1], { ...one, agent: one.agent.split('/')[1] }]]
      }),
    )
  }

  it('are an agent’s own, or a scenario’s best public one, if any', async () => {
    await agent('good', 0.5)
    await agent('better', 0.75)
    await agent('secret', 0.9, { visibility: 'private' })
    await agent('gone', 0.95)
    await yankVersion(services, { actor: ada, name: `@${ada.username}/gone`, ip: null }, '0.1.0')
    const { id } = await database.query
      .selectFrom('versions')
      .innerJoin('packages', 'packages.id', 'package_id')
      .select('versions.id')
      .where('packages.name', '=', `@${ada.username}/better`)
      .executeTakeFirstOrThrow()
    const points = Array.from({ length: 200 }, (_, index) => ({ steps: 10 * index, return_mean: index / 200 }))
    await database.query
      .insertInto('learning_curves')
      .values({ version_id: id, points: JSON.stringify(points) })
      .execute()
    const found = await best('maze', 'empty', 'good', 'better', 'secret', 'gone')
    expect(Object.keys(found).sort()).toEqual(['better', 'good', 'maze', 'secret'])
    expect(found.maze).toMatchObject({ agent: 'better', return_mean: 0.75 })
    expect(found.good).toEqual({
      agent: 'good',
      version: '0.1.0',
      return_mean: 0.5,
      outcome: missed,
      recorded: false,
      curve: [],
    })
    expect(found.secret).toMatchObject({ return_mean: 0.9 })
    for (const { curve } of [found.maze, found.better]) {
      expect(curve).toHaveLength(24)
      expect([curve[0], curve[23]]).toEqual([points[0], points[199]])
    }
    expect(await bestReturns(database.query, [])).toEqual(new Map())
  })

  it('are those of the latest version', async () => {
    await publish(services, ada, '1.1.0')
    expect(await best('maze')).toEqual({})
  })
})
