import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { isLong } from '@agentgym/testkit/tier'
import fc from 'fast-check'
import semver from 'semver'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { setTag, unyankVersion, yankVersion } from './change-versions.ts'
import { describeVersions } from './describe-versions.ts'
import { resolveVersion } from './resolve-version.ts'
import { checkAll, createActor, upload } from './testing/publishing.ts'

describeOnEngines('tags by any sequence of changes on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let ada: Actor
  let name: string
  let change: { actor: Actor; name: string; ip: string }

  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
  })
  beforeEach(async () => {
    ada = await createActor(database)
    name = `@${ada.username}/maze`
    change = { actor: ada, name, ip: '192.0.2.1' }
  })
  afterAll(async () => {
    await database.close()
    await services.remove()
  })

  it('any sequence of publishing, tagging and yanking keeps the rules', async () => {
    const version = fc.constantFrom(
      '1.0.0',
      '1.1.0',
      '2.0.0',
      '2.0.1',
      '3.0.0-rc.1',
      '3.0.0-rc.2',
      '0.1.0',
      '1.2.0-latest.1',
    )
    const action = fc.oneof(
      { weight: 4, arbitrary: fc.record({ do: fc.constant('publish' as const), version }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('upload' as const), version }) },
      fc.record({ do: fc.constant('settle' as const), version }),
      fc.record({ do: fc.constant('reject' as const), version }),
      fc.record({ do: fc.constant('yank' as const), version }),
      fc.record({ do: fc.constant('unyank' as const), version }),
      fc.record({ do: fc.constant('tag' as const), version, tag: fc.constantFrom('latest', 'next', 'stable') }),
    )
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 14 }), async (actions) => {
        const base = `run-${run++}`
        const by = { ...change, name: `@${ada.username}/${base}` }
        let before: Record<string, string> = {}
        for (const step of actions) {
          await attempt(async () => {
            if (step.do === 'upload') await upload(services, ada, step.version, { base })
            else if (step.do === 'settle') await checkAll(services, true, 'last first')
            else if (step.do === 'publish' || step.do === 'reject') {
              await upload(services, ada, step.version, { base })
              await checkAll(services, step.do === 'publish')
            } else if (step.do === 'yank') await yankVersion(services, by, step.version)
            else if (step.do === 'unyank') await unyankVersion(services, by, step.version)
            else await setTag(services, by, step.tag, step.version)
          })
          before = await holds(by.name, before, step)
        }
      }),
      { numRuns: isLong ? 30 : 6 },
    )
  })

  async function holds(
    wanted: string,
    before: Record<string, string>,
    step: { do: string; version: string; tag?: string },
  ) {
    const list = await describeVersions(database.query, ada, wanted).catch(() => undefined)
    if (list === undefined) return {}
    const of = (version: string) => list.versions.find((candidate) => candidate.version === version)
    for (const [tag, version] of Object.entries(list.tags))
      expect(of(version), `${tag} names ${version}`).toMatchObject({ state: 'published', yanked: false })
    const { latest } = list.tags
    const byName = step.do === 'tag' && step.tag === 'latest'
    if (latest !== before.latest && !byName) {
      expect(latest === undefined || semver.prerelease(latest) === null, `latest went to ${latest}`).toBe(true)
      if (step.do !== 'yank' && before.latest !== undefined)
        expect(semver.gt(latest ?? '0.0.0', before.latest), `latest went from ${before.latest} to ${latest}`).toBe(true)
    }
    for (const range of ['*', '^1', '>=1.0.0', '^3.0.0-rc.0']) {
      const found = await resolveVersion(services, ada, wanted, range).catch(() => undefined)
      if (found !== undefined) expect(of(found.version), range).toMatchObject({ state: 'published', yanked: false })
    }
    const { latest_version } = await database.query
      .selectFrom('packages')
      .select('latest_version')
      .where('name', '=', wanted)
      .executeTakeFirstOrThrow()
    expect(latest_version).toBe(latest ?? null)
    return list.tags
  }
})

/** Refusals by the rules are part of the sequence. */
async function attempt(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    expect(error).toHaveProperty('code', expect.stringMatching(/^(version_|package_not_found|tag_)/))
  }
}
