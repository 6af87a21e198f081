import type { LearningCurve, SampleEpisode, VersionDetails } from '@agentgym/contract'
import { type CompiledQuery, type InferResult, type Selectable, sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { PriceTable, SaleTermsTable } from '../../core/database/market-schema.ts'
import { prepared } from '../../core/database/prepared-statements.ts'
import { latestVerification, type VerificationRow } from '../evaluations/describe-verification.ts'
import { selectPage } from './package-page.store.ts'

/** A row as JSON has it: its times are texts. */
type InJson<Row> = {
  [Column in keyof Row]: Row[Column] extends Date
    ? string
    : Row[Column] extends Date | null
      ? string | null
      : Row[Column]
}

/** Of the package and of the version that `latest` names. */
const selection = {
  episode: sql<SampleEpisode | null>`(select episode from sample_episodes where version_id = versions.id)`,
  curve: sql<LearningCurve | null>`(select points from learning_curves where version_id = versions.id)`,
  agent_manifest: sql<unknown>`(select manifest from agent_versions where version_id = versions.id)`,
  changes: sql<VersionDetails['changes']>`(
    select json_build_object('markdown', markdown, 'html', html) from version_changes where version_id = versions.id)`,
  verification: sql<VerificationRow | null>`(
    select row_to_json(latest) from (${latestVerification(sql`versions.id`)}) latest)`,
  prices: sql<InJson<Selectable<PriceTable>>[] | null>`(
    select json_agg(prices order by effective_at, created_at) from prices where package_id = packages.id)`,
  sale_terms: sql<InJson<Selectable<SaleTermsTable>> | null>`(
    select row_to_json(sale_terms) from sale_terms where package_id = packages.id)`,
  at: sql<Date>`date_trunc('milliseconds', clock_timestamp())`,
}

function selectView(query: Queries) {
  return selectPage(query)
    .select(['packages.owner_id', 'packages.taken_down_at', 'packages.taken_down_reason'])
    .select([selection.episode.as('episode'), selection.curve.as('curve'), selection.changes.as('changes')])
    .select([selection.agent_manifest.as('agent_manifest'), selection.verification.as('verification')])
    .select([selection.prices.as('prices'), selection.sale_terms.as('sale_terms'), selection.at.as('at')])
}

export type ViewRow = InferResult<ReturnType<typeof selectView>>[number]

const someName = '@scope/name'
/** Making the text of the statement takes longer than its answer: it is made once. */
let statement: CompiledQuery<ViewRow> | undefined

/** All that the first page of a package is made of but what depends on who asks, in one round trip. */
export async function findView(query: Queries, name: string): Promise<ViewRow | undefined> {
  statement ??= selectView(query).where('packages.name', '=', someName).modifyEnd(prepared).compile()
  const parameters = statement.parameters.map((given) => (given === someName ? name : given))
  const { rows } = await query.executeQuery<ViewRow>({ ...statement, parameters })
  return rows[0]
}
