import { AgentGymError, type Publisher } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Actor } from '../../core/access/authorize.ts'
import type { Services } from '../../core/services.ts'
import { findAccount } from '../accounts/index.ts'
import { listedColumns, listedPackages, visiblePackages } from './search-packages.ts'

const mostPackages = 100

/** A user or an organization, with the packages that the actor may see. Throws `account_not_found`. */
export async function describePublisher(
  { database, config }: Services,
  actor: Actor | null,
  username: string,
): Promise<Publisher> {
  const { query } = database
  const account = await findAccount(query, username)
  if (account === undefined || account.disabled_at !== null)
    throw new AgentGymError({
      code: 'account_not_found',
      message: `No account named ${JSON.stringify(username.slice(0, 100))}.`,
      data: { username: username.slice(0, 100) },
    })
  const visible = query
    .selectFrom('packages')
    .where('owner_id', '=', account.id)
    .where('latest_version', 'is not', null)
    .where(visiblePackages(actor))
  const kinds = await visible
    .select(['kind', sql<number>`count(*)`.as('packages'), sql<number>`sum(downloads)::bigint`.as('downloads')])
    .groupBy('kind')
    .execute()
  const countOf = (kind: string) => kinds.find((counted) => counted.kind === kind)?.packages ?? 0
  const rows = await visible
    .select(listedColumns)
    .orderBy('updated_at', 'desc')
    .orderBy('id')
    .limit(mostPackages)
    .execute()
  return {
    username: account.username,
    kind: account.kind,
    display_name: account.display_name,
    created_at: account.created_at.toISOString(),
    counts: {
      scenarios: countOf('scenario'),
      agents: countOf('agent'),
      downloads: kinds.reduce((sum, { downloads }) => sum + downloads, 0),
    },
    packages: await listedPackages(query, rows, config.training.currency),
  }
}
