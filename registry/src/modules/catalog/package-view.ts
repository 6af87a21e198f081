import {
  AgentGymError,
  type LearningCurve,
  type Offer,
  type PackageView,
  type SampleEpisode,
  type VersionDetails,
} from '@agentgym/contract'
import { type CompiledQuery, type InferResult, type Selectable, sql } from 'kysely'
import type { Actor } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import type { PriceTable, SaleTermsTable } from '../../core/database/market-schema.ts'
import { entryOf } from '../entitlements/index.ts'
import { latestVerification, type VerificationRow, verificationOf } from '../evaluations/index.ts'
import {
  belongsTo,
  describeVersion,
  findablePackageName,
  type PackageServices,
  readSampleEpisode,
  versionDetails,
} from '../packages/index.ts'
import { describeOffer, makeOffer, pricesAt, termsAt } from '../prices/index.ts'
import { bestReturns } from '../verification/index.ts'
import { describePage, type PageRow, packagePage, pageRow, selectPage } from './package-page.ts'

/**
 * Everything that a package's main page shows, in one answer: the page, the offer of its latest version, and that
 * version with its episode. Equal to the results of four separate requests. Throws `package_not_found`.
 */
export async function packageView(
  services: PackageServices,
  actor: Actor | null,
  requestedName: string,
): Promise<PackageView> {
  const name = findablePackageName(requestedName)
  const row = name === null ? undefined : await findView(services.database.query, name)
  if (row === undefined) return viewOfParts(services, actor, requestedName)
  const page = pageRow(row)
  const { latest } = page
  const isOpen = row.visibility === 'public' && row.taken_down_at === null
  // Only public packages with public offers. Everything else is checked separately.
  if (!isOpen || latest === null || latest.yanked_at !== null || latest.deprecated !== null)
    return viewOfParts(services, actor, requestedName)
  return viewOfRow(services, actor, row, { ...page, latest })
}

async function viewOfRow(
  services: PackageServices,
  actor: Actor | null,
  row: ViewRow,
  page: PageRow & { latest: NonNullable<PageRow['latest']> },
): Promise<PackageView> {
  const { database, config } = services
  const { query } = database
  const { latest } = page
  const member = await belongsTo(query, actor, row.owner_id)
  const verification = row.kind === 'agent' ? verificationOf(row.verification) : null
  const [shown, best, offer] = await Promise.all([
    describePage(services, row, page),
    row.kind === 'scenario' ? bestReturns(query, [row.id]) : null,
    describeOffer(
      { query, config },
      {
        actor,
        buyer: actor === null ? null : { id: actor.accountId, username: actor.username },
        found: { id: row.id, name: row.name, kind: row.kind, owner_id: row.owner_id, member },
        version: latest.version,
        manifest: latest.manifest,
        prices: pricesOf(row, config.training.currency),
        verification,
      },
    ),
  ])
  const details = versionDetails(config, row.name, latest, {
    tags: new Map(Object.entries(page.tags)),
    changes: row.changes,
    verification,
    learningCurve: row.kind === 'agent' ? row.curve : null,
    agentManifest: row.kind === 'agent' ? row.agent_manifest : null,
  })
  return { page: shown, offer, latest: { details, episode: row.episode, best_agent: best?.get(row.id) ?? null } }
}

function pricesOf({ id, created_at: createdAt, at, prices, sale_terms: said }: ViewRow, currency: string) {
  const entries = (prices ?? []).map((price) =>
    entryOf({
      ...price,
      effective_at: new Date(price.effective_at),
      created_at: new Date(price.created_at),
      withdrawn_at: timeOf(price.withdrawn_at),
    }),
  )
  const terms = termsAt(said === null ? undefined : { ...said, next_at: timeOf(said.next_at) }, at)
  return pricesAt({ id, created_at: createdAt }, { at, entries, terms }, currency)
}

function timeOf(text: string | null): Date | null {
  return text === null ? null : new Date(text)
}

/**
 * For packages with restricted access: private, taken down, without a version, or with a deprecated one. Its best agent is
 * left to the leaderboard.
 */
async function viewOfParts(
  services: PackageServices,
  actor: Actor | null,
  requestedName: string,
): Promise<PackageView> {
  const page = await packagePage(services, actor, requestedName)
  const offer = await absent(makeOffer(services, { actor, name: requestedName }))
  if (page.latest === null) return { page, offer, latest: null }
  const { version } = page.latest
  const { query } = services.database
  const [details, episode] = await Promise.all([
    describeVersion(services, actor, requestedName, version),
    absent<SampleEpisode>(readSampleEpisode(query, actor, requestedName, version)),
  ])
  return { page, offer, latest: { details, episode, best_agent: null } }
}

const expected = new Set<string>([
  'package_not_found',
  'package_taken_down',
  'version_not_found',
  'version_yanked',
  'sample_episode_not_found',
])

/** Null if it does not exist or is not visible to the actor. */
async function absent<Value extends Offer | SampleEpisode>(reading: Promise<Value>): Promise<Value | null> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof AgentGymError && expected.has(error.code)) return null
    throw error
  }
}

/** A row parsed from JSON: its times are strings. */
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

type ViewRow = InferResult<ReturnType<typeof selectView>>[number]

const someName = '@scope/name'
/** Building the statement's text takes longer than running it, so it is built once. */
let statement: CompiledQuery<ViewRow> | undefined

/** Everything on a package's main page that does not depend on the caller, in one round trip. */
async function findView(query: Queries, name: string): Promise<ViewRow | undefined> {
  statement ??= selectView(query).where('packages.name', '=', someName).compile()
  const parameters = statement.parameters.map((given) => (given === someName ? name : given))
  const { rows } = await query.executeQuery<ViewRow>({ ...statement, parameters })
  return rows[0]
}
