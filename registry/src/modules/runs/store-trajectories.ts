import { randomUUID } from 'node:crypto'
import type { Trajectory } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Attempt } from '../../core/queue/job-handler.ts'
import type { Services } from '../../core/services.ts'
import { lockObject } from '../packages/index.ts'
import { writeRun } from './run-attempt.ts'

/** Of each trajectory, for pages that show one; all of it lies in the object. */
const shownSteps = 200

/**
 * Takes sampled trajectories from the worker that has the run: one object of newline JSON, a row each, and their first
 * steps. One of an iteration and environment that is there already counts nothing. Throws `lease_lost`.
 */
export async function storeTrajectories(
  services: Services,
  attempt: Attempt,
  trajectories: Trajectory[],
): Promise<void> {
  const { database, objects } = services
  await services.queue.requireActive(attempt)
  const bytes = Buffer.from(trajectories.map((trajectory) => `${JSON.stringify(trajectory)}\n`).join(''))
  const key = await objects.put(bytes)
  const rows = trajectories.map(({ steps, return: episodeReturn, ...trajectory }, line) => ({
    ...trajectory,
    id: randomUUID(),
    episode_return: episodeReturn,
    line,
    steps: steps.slice(0, shownSteps).map((step, index) => ({ ...step, step: index })),
  }))
  await writeRun(services, attempt, async ({ query, run }) => {
    await lockObject(database, query, key)
    // The sweeper may have come between.
    if (!(await objects.has(key))) await objects.put(bytes)
    const json = sql`${JSON.stringify(rows)}::jsonb`
    await sql`
      insert into trajectories (id, run_id, iteration, environment, episode_return, length, partial, object_key, line)
      select id, ${run.id}::uuid, iteration, environment, episode_return, length, partial, ${key}, line
      from jsonb_to_recordset(${json}) as given (id uuid, iteration bigint, environment integer,
        episode_return double precision, length integer, partial boolean, line integer)
      on conflict do nothing`.execute(query)
    await sql`
      insert into trajectory_steps (trajectory_id, step, observation, action, reward, log_probability, terminated, truncated)
      select given.id, taken.step, taken.observation, taken.action, taken.reward, taken.log_probability,
        taken.terminated, taken.truncated
      from jsonb_to_recordset(${json}) as given (id uuid, steps jsonb)
      join trajectories on trajectories.id = given.id
      cross join lateral jsonb_to_recordset(given.steps) as taken (step integer, observation jsonb, action jsonb,
        reward double precision, log_probability double precision, terminated boolean, truncated boolean)`.execute(
      query,
    )
  })
}
