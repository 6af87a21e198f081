import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeOnEngines } from '@agentgym/testkit/databases'
import type { TestServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { findDependents } from '../catalog/package-page.ts'
import { describeVersion } from '../packages/describe-versions.ts'
import { bestReturns, leaderboard } from './leaderboard.ts'
import { openVerification, runAgain, verifyAgent } from './testing/verifying.ts'

describeOnEngines('the latest decisive verdict of a version counts, on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let ada: Actor
  let close: () => Promise<void>

  beforeAll(async () => {
    ;({ database, services, ada, close } = await openVerification(open))
  })
  afterAll(() => close())

  /** The agent's state according to each reader of verdicts. */
  async function readers(name: string) {
    const scenario = `@${ada.username}/maze`
    const ids = await database.query.selectFrom('packages').select(['id', 'name']).execute()
    const idOf = (wanted: string) => ids.find((row) => row.name === wanted)?.id ?? ''
    const board = await leaderboard(database.query, { actor: null, name: scenario, version: '1.0.0', limit: 25 })
    const best = await bestReturns(database.query, [idOf(name), idOf(scenario)])
    const dependents = await findDependents(database.query, null, scenario)
    const { verification } = await describeVersion(services, null, name, '0.1.0')
    return {
      board: board.entries.map(({ agent }) => agent.name),
      best: [...best.values()].map(({ agent }) => agent),
      dependents: dependents.agents.map((agent) => agent.name),
      page: verification?.state,
    }
  }

  it('a later mismatch removes an agent from every list, and a later verification restores it', async () => {
    const agent = await verifyAgent(services, ada)
    const { name } = agent
    const counted = { board: [name], best: [name, name], dependents: [name], page: 'verified' }
    expect(await readers(name)).toEqual(counted)
    await runAgain(services, ada, agent, false)
    expect(await readers(name)).toEqual({ board: [], best: [], dependents: [], page: 'mismatch' })
    await runAgain(services, ada, agent, true)
    expect(await readers(name)).toEqual(counted)
  })

  it('inconclusive verifications change nothing', async () => {
    const agent = await verifyAgent(services, ada, { base: 'steady' })
    const before = await readers(agent.name)
    for (const state of ['failed', 'unavailable'] as const) {
      const { id } = await database.query
        .insertInto('evaluations')
        .columns(['purpose', 'version_id', 'episodes', 'seed', 'state', 'ended_at'])
        .expression((from) =>
          from
            .selectFrom('versions')
            .innerJoin('packages', 'packages.id', 'versions.package_id')
            .select(({ val }) => [val('verification').as('purpose'), 'versions.id', val(100).as('episodes')])
            .select(({ val, fn }) => [val(1).as('seed'), val('failed').as('state'), fn<Date>('now').as('ended_at')])
            .where('packages.name', '=', agent.name),
        )
        .returning('id')
        .executeTakeFirstOrThrow()
      await database.query
        .insertInto('verifications')
        .columns(['evaluation_id', 'version_id', 'state', 'message'])
        .expression((from) =>
          from
            .selectFrom('evaluations')
            .select(['id', 'version_id'])
            .select(({ val }) => [val(state).as('state'), val('The machine failed.').as('message')])
            .where('id', '=', id),
        )
        .execute()
    }
    expect(await readers(agent.name)).toEqual(before)
  })
})

/** They read or write the history itself: records, the money that follows a mismatch, and the view. */
const historians = [
  'core/database/migrations/',
  'core/database/training-schema.ts',
  'modules/evaluations/verification-records.ts',
  'modules/moderation/owed-refunds.ts',
  'modules/verification/conclude-evaluation.ts',
  'modules/verification/evaluation-runs.ts',
  'modules/verification/standings.store.ts',
  'modules/verification/verification.tasks.ts',
]

it('no other source bypasses the verdicts view', () => {
  const root = join(import.meta.dirname, '../..')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      /(?<!\.test)\.ts$/.test(file) && !historians.some((one) => file.startsWith(one)) && !/\/testing\//.test(file),
  )
  const reads = /(?:from|join|into|Join\(|From\(|Into\()\s*\(?['"]?verifications\b/
  expect(files.filter((file) => reads.test(readFileSync(join(root, file), 'utf8')))).toEqual([])
})
