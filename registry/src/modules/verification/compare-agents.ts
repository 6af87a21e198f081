import { type AgentComparison, AgentGymError, type ComparedAgent } from '@agentgym/contract'
import type { Actor } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import { findReadablePackage, findReadableVersion } from '../packages/index.ts'
import { verifiedAgents } from './leaderboard.ts'
import { confidenceInterval, deviationOf, meanOf } from './noise.ts'

type ComparisonRequest = { actor: Actor | null; name: string; version: string; agents: string[] }

/** The held-out returns of an agent's latest verdict. */
type Played = ComparedAgent & { season: number | null }

/**
 * Verified agents of a scenario's version beside each other, in the order of the request, and the differences of each from
 * the first one, paired by episode. Throws `package_not_found`, `version_not_found` of the scenario, and
 * `package_not_found` for an agent that is not on the leaderboard.
 */
export async function compareAgents(query: Queries, request: ComparisonRequest): Promise<AgentComparison> {
  const scenario = await findReadablePackage(query, request.actor, request.name)
  const { id, version } = await findReadableVersion(query, scenario, request.version)
  const played = await readPlayed(query, id, request.agents)
  const found = request.agents.map((name) => {
    const agent = played.get(name)
    if (agent !== undefined) return agent
    throw new AgentGymError({
      code: 'package_not_found',
      message: `${JSON.stringify(name)} is no verified agent of ${scenario.name}@${version}.`,
      hint: 'Choose agents of its leaderboard.',
      data: { name },
    })
  })
  const [first, ...others] = found
  return {
    scenario: { name: scenario.name, version },
    agents: found.map(({ season: _, ...agent }) => agent),
    differences: others.map((agent) => differenceOf(agent, first)),
  }
}

async function readPlayed(query: Queries, scenarioVersionId: string, names: string[]): Promise<Map<string, Played>> {
  const rows = await query
    .selectFrom(verifiedAgents(query, scenarioVersionId).where('packages.name', 'in', names).as('latest'))
    .innerJoin('verdicts', 'verdicts.version_id', 'latest.version_id')
    .select(['latest.name', 'latest.version', 'latest.title', 'latest.algorithm'])
    .select(['verdicts.return_mean', 'verdicts.episode_returns', 'verdicts.season_id'])
    .execute()
  return new Map(
    rows.map((row) => [
      row.name,
      {
        ...{ name: row.name, version: row.version, title: row.title, algorithm: row.algorithm },
        ...{ return_mean: row.return_mean ?? 0, returns: row.episode_returns, season: row.season_id },
      },
    ]),
  )
}

/** Null unless both played the same episodes, whose returns are known. */
function differenceOf(agent: Played, first: Played): AgentComparison['differences'][number] {
  const [own, others] = [agent.returns, first.returns]
  if (own === null || others === null || own.length !== others.length || agent.season !== first.season) return null
  const returns = own.map((value, episode) => value - others[episode])
  const measure = { mean: meanOf(returns), std: deviationOf(returns), episodes: returns.length, returns }
  return { mean: measure.mean, confidence: confidenceInterval(measure) }
}
