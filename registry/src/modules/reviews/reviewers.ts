import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'

type Reviewer = { author: RawBuilder<unknown>; packageId: RawBuilder<unknown>; major: RawBuilder<unknown> }

/** The account and the organisations that it belongs to: whoever of them bought, it may use. */
const circle = (account: RawBuilder<unknown>) => sql`(
  select ${account}::uuid union all select organisation_id from memberships where user_id = ${account})`

const freeAt = (packageId: RawBuilder<unknown>, at: RawBuilder<unknown>) => sql<SqlBool>`coalesce((
    select kind from prices where package_id = ${packageId} and withdrawn_at is null and effective_at <= ${at}
    order by effective_at desc, created_at desc, id limit 1
  ), 'free') = 'free'`

/**
 * A condition: has the account had the package in its hands, and is no seller of it? It holds a licence for the major, alone or
 * through an organisation; it paid for runs; or it downloaded the package or trained on it while that was free. A licence
 * that was given back is none: whoever sells could make votes of purchases and refunds.
 */
export const mayReview = ({ author, packageId, major }: Reviewer) => sql<SqlBool>`(
  not exists (select from packages where id = ${packageId} and owner_id in ${circle(author)})
  and not exists (select from accounts where id = ${author} and disabled_at is not null)
  and (
    exists (select from entitlements where package_id = ${packageId} and major = ${major} and revoked_at is null
      and holder_id in ${circle(author)})
    or exists (select from orders where package_id = ${packageId} and major = ${major} and state = 'paid'
      and price_kind = 'per_run' and buyer_id in ${circle(author)})
    or exists (select from package_users used where package_id = ${packageId} and account_id = ${author}
      and ${freeAt(packageId, sql`used.first_at`)})
    or exists (select from training_runs run join versions trained on trained.id = run.scenario_version_id
      where trained.package_id = ${packageId} and run.created_by = ${author} and run.started_at is not null
      and ${freeAt(packageId, sql`run.created_at`)})
  ))`

/** Of a column that holds a version: `1` of `1.4.2`. */
export const majorOf = (version: RawBuilder<unknown>) => sql`split_part(${version}, '.', 1)::bigint`

/** May that account review that version? */
export async function canReview(
  query: Queries,
  { author, packageId, version }: { author: string; packageId: string; version: string },
): Promise<boolean> {
  const asked = {
    author: sql`${author}::uuid`,
    packageId: sql`${packageId}::uuid`,
    major: majorOf(sql`${version}::text`),
  }
  const { rows } = await sql<{ may: boolean }>`select ${mayReview(asked)} as may`.execute(query)
  return rows[0].may
}
