import { sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import { prepared } from '../../core/database/prepared-statements.ts'

/** What the author of the scenario gets of a sale. */
export type Royalty = {
  to: string
  basisPoints: number
  authorOwes: boolean
  /** Their earnings in the ledger, where they have such an account. */
  account: string | null
}

/**
 * Of an agent's version: its scenario's author gets what the scenario asks for at this moment, at most the installation's
 * cap; null where the scenario is not of this registry, is the seller's own, or asks for nothing. The scenario is told by its
 * bytes, so that no agent pays a royalty to a name.
 */
export async function royaltyOf(
  query: Queries,
  asked: { versionId: string; sellerId: string; capBasisPoints: number; currency: string },
): Promise<Royalty | null> {
  const { versionId, sellerId, capBasisPoints, currency } = asked
  const { rows } = await sql<Row>`${prepared}
    select scenario.owner_id,
      (select id from ledger_accounts where owner_id = scenario.owner_id and code = 'earnings' and currency = ${currency})
        as account_id,
      case when terms.next_at <= now() then terms.next_royalty_basis_points else terms.royalty_basis_points end
        as royalty_basis_points,
      exists (select from ledger_accounts where owner_id = scenario.owner_id and code = 'debt'
        and debits_posted > credits_posted) as owes
    from agent_versions agent
    join packages scenario on scenario.name = agent.manifest -> 'scenario' ->> 'name' and scenario.kind = 'scenario'
    join versions version on version.package_id = scenario.id and version.state = 'published'
      and version.version = agent.manifest -> 'scenario' ->> 'version'
      and version.bundle_hash = agent.manifest -> 'scenario' ->> 'hash'
    join sale_terms terms on terms.package_id = scenario.id
    where agent.version_id = ${versionId} and scenario.owner_id <> ${sellerId}`.execute(query)
  const [row] = rows
  const basisPoints = Math.min(row?.royalty_basis_points ?? 0, capBasisPoints)
  if (row === undefined || basisPoints === 0) return null
  return { to: row.owner_id, basisPoints, authorOwes: row.owes, account: row.account_id }
}

type Row = { owner_id: string; account_id: string | null; royalty_basis_points: number; owes: boolean }
