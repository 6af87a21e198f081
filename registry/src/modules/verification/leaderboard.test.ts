import { describeOnEngines } from '@agentgym/testkit/databases'
import type { TestServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { yankVersion } from '../packages/change-versions.ts'
import { compareAgents } from './compare-agents.ts'
import { bestReturns, leaderboard } from './leaderboard.ts'
import { deviationOf, meanOf } from './noise.ts'
import { finish, mustLease, openVerification, resultOf, runAgain, uploadAgent } from './testing/verifying.ts'

/** Returns of a hundred episodes around `mean`; `luck` moves single episodes up and down, and the mean a little. */
const returnsOf = (mean: number, luck: number) =>
  Array.from({ length: 100 }, (_, episode) => mean + Math.sin(episode * 7) + Math.sin(episode * (luck + 2)) / 4)

describeOnEngines('standings on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let ada: Actor
  let close: () => Promise<void>

  beforeAll(async () => {
    ;({ database, services, ada, close } = await openVerification(open))
  })
  afterAll(() => close())

  /** A version whose held-out episodes have these returns. */
  async function add(base: string, version: string, returns: number[]) {
    const agent = await uploadAgent(services, ada, { base, version })
    const job = await mustLease(services)
    const result = resultOf(job, agent.evaluation, { return_mean: meanOf(returns), return_std: deviationOf(returns) })
    const results = result.results.map((task) =>
      task.id === 'held_out' ? { ...task, episode_returns: returns } : { ...task, episode_returns: null },
    )
    await finish(services, job, { ...result, results })
    return agent
  }
  const board = async () => {
    const request = { actor: null, name: `@${ada.username}/maze`, version: '1.0.0', limit: 25 }
    const { entries } = await leaderboard(database.query, request)
    return entries.map(({ agent, return_mean, attempts, confidence }) => ({
      ...{ name: agent.name.split('/')[1], version: agent.version, score: return_mean, attempts, confidence },
    }))
  }

  it('name the latest version, keep the score within noise, and change with significant differences', async () => {
    const first = returnsOf(1, 1)
    await add('runner', '0.1.0', first)
    const [entry] = await board()
    expect(entry).toMatchObject({ version: '0.1.0', score: meanOf(first), attempts: 1 })
    const margin = (1.984217 * deviationOf(first)) / 10
    expect(entry.confidence?.low).toBeCloseTo(meanOf(first) - margin, 4)
    expect(entry.confidence?.high).toBeCloseTo(meanOf(first) + margin, 4)

    await add('runner', '0.2.0', returnsOf(1.01, 2))
    await add('walker', '0.1.0', returnsOf(1.01, 3))
    const within = { score: meanOf(first), attempts: 3 }
    expect(await board()).toMatchObject([
      { name: 'runner', version: '0.2.0', ...within },
      { name: 'walker', version: '0.1.0', ...within },
    ])
    const better = returnsOf(1.5, 4)
    await add('runner', '0.3.0', better)
    expect((await board())[0]).toMatchObject({ version: '0.3.0', score: meanOf(better), attempts: 4 })
    const worse = returnsOf(0.5, 5)
    await add('runner', '0.4.0', worse)
    expect(await board()).toMatchObject([
      { name: 'walker' },
      { name: 'runner', version: '0.4.0', score: meanOf(worse) },
    ])
  })

  it('fall back to the previous version after a yank or a mismatch', async () => {
    const returns = returnsOf(3, 1)
    await add('diver', '0.1.0', returns)
    const lucky = await add('diver', '0.2.0', returnsOf(5, 2))
    await add('diver', '0.3.0', returnsOf(5, 3))
    expect((await board())[0]).toMatchObject({ version: '0.3.0', score: meanOf(returnsOf(5, 2)) })
    await yankVersion(services, { actor: ada, name: lucky.name, ip: null }, '0.3.0')
    expect((await board())[0]).toMatchObject({ version: '0.2.0', score: meanOf(returnsOf(5, 2)) })
    await runAgain(services, ada, lucky, false)
    expect((await board())[0]).toMatchObject({ version: '0.1.0', score: meanOf(returns) })
    const rows = await database.query.selectFrom('packages').select(['id', 'name']).execute()
    const scenario = rows.find(({ name }) => name.endsWith('/maze'))?.id ?? ''
    expect((await bestReturns(database.query, [scenario])).get(scenario)).toMatchObject({
      agent: lucky.name,
      return_mean: meanOf(returns),
    })
  })

  it('compare agents by their returns of the same episodes', async () => {
    const [quick, slow] = [await add('quick', '0.1.0', returnsOf(2, 1)), await add('slow', '0.1.0', returnsOf(1.5, 2))]
    const request = { actor: null, name: `@${ada.username}/maze`, version: '1.0.0' }
    const compared = await compareAgents(database.query, { ...request, agents: [quick.name, slow.name] })
    expect(compared.agents.map(({ name, version, returns }) => [name, version, returns?.length])).toEqual([
      [quick.name, '0.1.0', 100],
      [slow.name, '0.1.0', 100],
    ])
    const differences = returnsOf(1.5, 2).map((value, episode) => value - returnsOf(2, 1)[episode])
    const [{ mean, confidence } = { mean: 0, confidence: null }] = compared.differences.filter((one) => one !== null)
    expect(mean).toBeCloseTo(meanOf(differences), 9)
    // Paired: the episodes' own luck, which both share, is not in it.
    expect((confidence?.high ?? 0) - (confidence?.low ?? 0)).toBeCloseTo(
      (2 * 1.984217 * deviationOf(differences)) / 10,
      4,
    )
    expect(confidence?.high).toBeLessThan(0)
    expect(JSON.stringify(compared)).not.toMatch(/season|seed/)
    const older = await uploadAgent(services, ada, { base: 'older' })
    const job = await mustLease(services)
    await finish(services, job, resultOf(job, older.evaluation, { return_mean: 1 }))
    const beside = await compareAgents(database.query, { ...request, agents: [quick.name, older.name] })
    expect([beside.agents[1].returns, beside.differences]).toEqual([null, [null]])
    for (const agents of [
      [quick.name, '@nobody/agent'],
      [quick.name, `@${ada.username}/maze`],
    ])
      await expect(compareAgents(database.query, { ...request, agents })).rejects.toMatchObject({
        code: 'package_not_found',
      })
  })
})
