import type { AgentManifest } from '@agentgym/contract'
import { openAiErrorBody, requestInvalid } from '@agentgym/contract/protocols'
import { sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { FailureFormat } from '../../core/http/env.ts'

/** `@scope/name[@range]`. Throws `request_invalid` if it cannot name an agent. */
export function modelOf(model: string): { name: string; version?: string } {
  const [, name, version] = /^(@[^/@]+\/[^/@]+)(?:@(.{1,64}))?$/s.exec(model) ?? []
  if (name === undefined) throw requestInvalid('model', 'the model must be @scope/name or @scope/name@version')
  return { name, version }
}

/** Errors in OpenAI's format. */
export const openAiFailures: FailureFormat = { body: openAiErrorBody, challenge: true }

/** The observation and action spaces of an agent's version; undefined if it has no manifest. */
export async function spacesOf(
  query: Queries,
  which: { versionId: string } | { package: string; version: string },
): Promise<AgentSpaces | undefined> {
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
  return row && { ...row.manifest.scenario, remembers: row.manifest.policy.memory !== undefined }
}

type AgentSpaces = Pick<AgentManifest['scenario'], 'observation' | 'action'> & { remembers: boolean }

/** Chat completions cannot carry an agent's memory between calls. Throws `request_invalid` for an agent with memory. */
export function refuseMemory(agent: AgentSpaces | undefined): void {
  if (agent?.remembers !== true) return
  throw requestInvalid(
    'model',
    'this agent remembers earlier observations: call it by /v1/packages/…/calls, with its `state`',
  )
}

type CallableAgent = { name: string; owner: string; created_at: Date }

/** Agents that an account or its organizations own or bought: the first hundred by name. */
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
