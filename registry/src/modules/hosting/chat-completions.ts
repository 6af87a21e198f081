import { type AgentManifest, confidenceOf, type HostedCall } from '@agentgym/contract'
import {
  type AgentAnswer,
  type AskedAgent,
  openAiErrorBody,
  requestInvalid,
  wordsOf,
} from '@agentgym/contract/protocols'
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
  if (row === undefined) return undefined
  const { scenario, policy, confidence } = row.manifest
  return { ...scenario, remembers: policy.memory !== undefined, confidence }
}

export type AgentSpaces = Pick<AgentManifest['scenario'], 'observation' | 'action' | 'mask_required'> &
  Pick<AgentManifest, 'confidence'> & { remembers: boolean }

/** Of an agent without a manifest, which older servers have. */
export const noSpaces = {
  observation: { type: 'dict', entries: [] },
  action: { type: 'dict', entries: [] },
} satisfies AskedAgent

/** A call's answer with the probabilities of words, and the calibrated chance of success of an agent that has it. */
export function answerOf(
  { action, label, probabilities, tool_probabilities }: HostedCall,
  { action: space, confidence: map }: AskedAgent & Pick<AgentManifest, 'confidence'>,
): AgentAnswer {
  const known = probabilities ?? tool_probabilities ?? null
  const own = label === null ? undefined : known?.[(wordsOf(space) ?? []).indexOf(label)]
  const confidence = map === undefined || own === undefined ? null : confidenceOf(map, own)
  return { action, label, probabilities: known, confidence }
}

/** System One has no place for what an agent observed before. Throws `request_invalid` for an agent with memory. */
export function refuseMemory(agent: AgentSpaces | undefined): void {
  if (agent?.remembers !== true) return
  throw requestInvalid(
    'model',
    'this agent remembers earlier observations: use /v1/decisions or chat completions, whose input has them, or /v1/packages/…/calls with its `state`',
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
