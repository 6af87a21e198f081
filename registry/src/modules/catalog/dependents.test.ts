import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { yankVersion } from '../packages/change-versions.ts'
import { createActor, publish } from '../packages/testing/publishing.ts'
import { verifyAgent } from '../verification/testing/verifying.ts'
import { findDependents } from './package-page.ts'

describeOnEngines('what needs a package on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let ada: Actor
  let other: Actor
  let name: string

  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
    ada = await createActor(database)
    other = await createActor(database)
    name = `@${ada.username}/maze`
    await publish(services, ada, '1.0.0')
    await publish(services, ada, '1.1.0')
  })
  afterAll(async () => {
    await database.close()
    await services.remove()
  })

  const find = (actor: Actor | null = null) => findDependents(database.query, actor, name)

  it('has none at first, and none for a hidden package', async () => {
    expect(await find()).toEqual({ name, agents: [], packages: [] })
    await expect(findDependents(database.query, null, '@none/such')).rejects.toMatchObject({
      code: 'package_not_found',
    })
  })

  it('include agents verified on any of its versions, each once, without yanked ones', async () => {
    await verifyAgent(services, ada)
    await verifyAgent(services, ada, { version: '0.2.0', scenario: { name, version: '1.1.0' } })
    const agent = { name: `@${ada.username}/maze-ppo`, title: 'Maze solver' }
    expect((await find()).agents).toEqual([{ ...agent, version: '0.2.0', scenario_version: '1.1.0' }])
    await yankVersion(services, { actor: ada, name: agent.name, ip: null }, '0.2.0')
    expect((await find()).agents).toEqual([{ ...agent, version: '0.1.0', scenario_version: '1.0.0' }])
  })

  it('include packages by their latest version, private ones for members only', async () => {
    const manifest = { dependencies: { [name]: '^1.0.0' } }
    await publish(services, ada, '1.0.0', { base: 'open', manifest })
    await publish(services, ada, '1.0.0', { base: 'secret', manifest, visibility: 'private' })
    await publish(services, ada, '1.0.0', { base: 'former', manifest })
    await publish(services, ada, '1.1.0', { base: 'former' })
    await publish(services, ada, '1.0.0', { base: 'different', manifest: { dependencies: { [`${name}s`]: '^1.0.0' } } })
    const shown = async (actor: Actor | null) => (await find(actor)).packages
    const open = { name: `@${ada.username}/open`, version: '1.0.0', title: 'Maze', range: '^1.0.0' }
    expect(await shown(null)).toEqual([open])
    expect(await shown(other)).toEqual([open])
    expect((await shown(ada)).map((one) => one.name).sort()).toEqual([open.name, `@${ada.username}/secret`])
  })
})
