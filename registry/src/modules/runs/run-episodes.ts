import {
  AgentGymError,
  type RunEpisode,
  type runEpisodeRequestSchema,
  type SampleEpisode,
  thinEpisodes,
} from '@agentgym/contract'
import type { z } from 'zod'
import type { Queries } from '../../core/database/database.ts'
import type { Attempt } from '../../core/queue/job-handler.ts'
import { findReadablePackage, findReadableVersion } from '../packages/index.ts'
import type { RunServices } from './run-services.ts'
import type { RunView } from './runs.store.ts'
import { writeRun } from './worker-reports.ts'

/**
 * Accepts an episode sampled during training from the run's worker, and drops others so that those kept are spread evenly over
 * its steps. A resumed run repeats episodes bit for bit; each counts once. Throws `lease_lost`.
 */
export async function storeEpisode(
  services: Pick<RunServices, 'database' | 'queue' | 'config' | 'log' | 'runFeeds'>,
  attempt: Attempt,
  { iteration, steps, length, return: episodeReturn, episode }: Omit<z.output<typeof runEpisodeRequestSchema>, 'lease'>,
): Promise<void> {
  await writeRun(services, attempt, async ({ query, run }) => {
    await query
      .insertInto('run_episodes')
      .values({
        ...{ run_id: run.id, iteration, steps, length },
        episode_return: episodeReturn,
        episode: JSON.stringify(episode),
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    const kept = thinEpisodes(await listEpisodes(query, run.id)).map((each) => each.iteration)
    await query.deleteFrom('run_episodes').where('run_id', '=', run.id).where('iteration', 'not in', kept).execute()
  })
}

/** In order of steps. */
export async function listEpisodes(query: Queries, runId: string): Promise<RunEpisode[]> {
  return await query
    .selectFrom('run_episodes')
    .select(['iteration', 'steps', 'episode_return as return', 'length'])
    .where('run_id', '=', runId)
    .orderBy('steps')
    .execute()
}

/** Throws `run_episode_not_found`. */
export async function readEpisode(query: Queries, runId: string, iteration: number): Promise<SampleEpisode> {
  const row = await query
    .selectFrom('run_episodes')
    .select('episode')
    .where('run_id', '=', runId)
    .where('iteration', '=', iteration)
    .executeTakeFirst()
  if (row === undefined) throw episodeNotFound(runId, iteration)
  return row.episode
}

/** To others than members, a run shows episodes of scenarios that everyone can read, and of no private one. */
export async function mayShowEpisodes(
  query: Queries,
  { scenario_name: name, scenario_version: version }: Pick<RunView, 'scenario_name' | 'scenario_version'>,
): Promise<boolean> {
  try {
    await findReadableVersion(query, await findReadablePackage(query, null, name), version)
    return true
  } catch (error) {
    if (error instanceof AgentGymError) return false
    throw error
  }
}

export function episodeNotFound(id: string, iteration: number): AgentGymError {
  return new AgentGymError({
    code: 'run_episode_not_found',
    message: `The run has no sampled episode at iteration ${iteration}, or it is no longer kept.`,
    hint: `GET /v1/runs/${id}/episodes lists those that are.`,
    data: { id, iteration },
  })
}
