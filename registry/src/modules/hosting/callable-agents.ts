import type { AgentManifest } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'

/** The observation and action spaces of an agent's version; undefined where it has no manifest. */
export async function spacesOf(
  query: Queries,
  which: { versionId: string } | { package: string; version: string },
): Promise<Pick<AgentManifest['scenario'], 'observation' | 'action'> | undefined> {
  const row = await query
    .selectFrom('agent_versions')
    .innerJoin('versions', 'versions.id', 'agent_versions.version_id')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .select('agent_versions.manifest')
    .$if('versionId' in which, (found) => found.where('versions.id', '=', 'versionId' in which ? which.versionId : ''))
    .$if('package' in which, (found) =>
      found
        .where('packages.name', '=', 'package' in which ? which.package : '')
        .where('versions.version', '=', 'package' in which ? which.version : ''),
    )
    .executeTakeFirst()
  return row?.manifest.scenario
}

export type CallableAgent = { name: string; owner: string; created_at: Date }

/** Agents that an account owns, alone or with others, or has bought: the first hundred by name. */
export async function callableAgents(query: Queries, accountId: string): Promise<CallableAgent[]> {
  const { rows } = await sql<CallableAgent>`
    with holders as (
      select ${accountId}::uuid as id union select organisation_id from memberships where user_id = ${accountId})
    select packages.name, accounts.username as owner, packages.created_at
    from packages join accounts on accounts.id = packages.owner_id
    where packages.kind = 'agent'
      and exists (select from versions where package_id = packages.id and state = 'published')
      and (packages.owner_id in (select id from holders) or (not packages.taken_down_for_all and exists (
        select from entitlements where entitlements.package_id = packages.id and revoked_at is null
          and holder_id in (select id from holders))))
    order by packages.name limit 100`.execute(query)
  return rows
}
