// @module-tag full
import { setTimeout as delay } from 'node:timers/promises'
import { type Client, publishPackage } from '@agentgym/client'
import type { Run, StartRunRequest } from '@agentgym/contract'
import { type Fleet, startFleet } from '@agentgym/testkit/fleet'
import { packScenario } from '@agentgym/testkit/packages'
import { signUpAt } from '@agentgym/testkit/people'
import { createPostgresqlDatabase } from '@agentgym/testkit/postgresql'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../registry/src/core/database/database.ts'
import { openDatabase } from '../../registry/src/core/database/open-database.ts'
import { auditRun, type RunAudit } from './audit-run.ts'

/** Kills of each victim, spread over runs of at most `killsARun`. */
const kills = isLong ? 30 : 1
const killsARun = isLong ? 5 : 1

/** Some seconds of training on one core, in a thousand iterations or two, with a checkpoint about every half second. */
const settings = {
  environments: 16,
  rollout_steps: 16,
  epochs: 10,
  evaluate_every: 0,
  evaluation_episodes: 10,
  checkpoint_every: isLong ? 30_000 : 10_000,
  rollout_workers: 1,
  learner_threads: 1,
}
const request = {
  scenario: '@acme/cart-pole',
  steps: isLong ? 600_000 : 120_000,
  seed: 7,
  settings,
  budget_minor: 1_000_000,
}

/** From one kill to the next, or from the first iteration to the only one; a resumed run needs some of it to get going. */
const pauseMs = () => (isLong ? 2_500 + Math.random() * 3_000 : Math.random() * 700)

/** The result of an undisturbed run. It does not depend on the database, so the second is compared with the first. */
let undisturbed: Observed | undefined
type Observed = { run: Run; curve: string; modelHash: string; audit: RunAudit | undefined }

describe.each(isLong ? (['postgresql', 'pglite'] as const) : (['postgresql'] as const))(
  'kill -9 during a run, on %s',
  (engine) => {
    let fleet: Fleet
    let database: Database | undefined
    let builder: Client

    beforeAll(async () => {
      const databaseUrl = engine === 'postgresql' ? await createPostgresqlDatabase() : undefined
      fleet = await startFleet({ databaseUrl })
      if (databaseUrl !== undefined) database = await openDatabase({ url: databaseUrl })
      const { token } = await signUpAt(fleet.url, 'operator', ['worker'])
      const author = await signUpAt(fleet.url, 'acme')
      builder = author.client
      const packed = await packScenario('cart-pole', { name: '@acme/cart-pole' })
      await publishPackage(author.client, packed)
      fleet.startWorker(token)
      await until(async () => (await versionState(builder)) === 'published')
      undisturbed ??= await observe(await ended(await start(builder, 'undisturbed')))
    }, 180_000)
    afterAll(async () => {
      await database?.close()
      await fleet.close()
    })

    const start = async (client: Client, name: string): Promise<string> => {
      const body = {
        ...request,
        publish: { name: `@acme/${name}`, summary: 'Balances the pole.' },
      } satisfies StartRunRequest
      const headers = { 'content-type': 'application/json' }
      const response = await client.send('/v1/runs', { method: 'POST', headers, body: JSON.stringify(body) })
      return ((await response.json()) as Run).id
    }

    const look = async (id: string): Promise<Run> => (await (await builder.send(`/v1/runs/${id}`)).json()) as Run

    const ended = async (id: string): Promise<Run> => {
      await until(async () => !['queued', 'running'].includes((await look(id)).state))
      return look(id)
    }

    const observe = async (run: Run): Promise<Observed> => {
      expect(run.state, `${JSON.stringify(run.error)}\n${fleet.log()}`).toBe('completed')
      const points: { iteration: number; steps: number; return_mean: number | null }[] = []
      for (let after: number | null = 0; after !== null; ) {
        const page = await builder.send(`/v1/runs/${run.id}/metrics?after_iteration=${after}&limit=5000`)
        const read = (await page.json()) as { points: typeof points; next: number | null }
        points.push(...read.points)
        after = read.next
      }
      expect(points.map(({ iteration }) => iteration)).toEqual(points.map((_, index) => index + 1))
      return {
        run,
        curve: JSON.stringify(points.map(({ steps, return_mean }) => [steps, return_mean])),
        modelHash: run.evaluation?.trajectory_hash ?? '',
        audit: database && (await auditRun(database, run.id)),
      }
    }

    /** As if a killed worker had been silent for two minutes. */
    const expireLeases = async () => {
      await database?.execute(`update jobs set leased_until = now() - interval '1 minute' where state = 'leased'`)
    }

    const holds = ({ run, curve, modelHash, audit }: Observed) => {
      expect(curve === undisturbed?.curve, 'the curve equals that of an undisturbed run').toBe(true)
      expect(modelHash).toBe(undisturbed?.modelHash)
      expect(run.agent?.package).not.toBeNull()
      if (audit === undefined) return
      expect(audit.sequence).toEqual(audit.sequence.map((_, index) => index + 1))
      expect(audit.ends).toEqual(['completed'])
      expect(audit.charges).toHaveLength(1)
      expect(audit.published).toHaveLength(1)
      expect(audit.openJobs).toBe(0)
    }

    const victims = engine === 'postgresql' ? (['trainer', 'worker', 'server'] as const) : (['server'] as const)
    it.each(victims)(
      'of the %s: one outcome, the same curve and agent, one charge',
      async (victim) => {
        let done = 0
        for (let round = 0; done < kills; round++) {
          const id = await start(builder, `killed-${victim}-${round}`)
          // A single kill must come during training; of many, some may come before.
          if (!isLong) await until(async () => (await look(id)).progress !== null)
          let inRound = 0
          while (inRound < killsARun && done < kills) {
            await delay(pauseMs())
            if (['completed', 'failed'].includes((await look(id)).state)) break
            if (await fleet.kill(victim)) {
              inRound++
              done++
            }
            if (victim === 'worker') await expireLeases()
            await fleet.mend()
          }
          expect(inRound, 'the run was long enough to be disturbed').toBeGreaterThan(0)
          holds(await observe(await ended(id)))
        }
      },
      isLong ? 3_600_000 : 300_000,
    )
  },
)

async function versionState(client: Client): Promise<string> {
  const response = await client.send('/v1/packages/@acme/cart-pole/versions/1.0.0')
  return ((await response.json()) as { state: string }).state
}

/** Waits for what takes as long as it takes; the test's own limit ends what never comes. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  // A server that is just being started again does not answer.
  while (!(await condition().catch(() => false))) await delay(200)
}
