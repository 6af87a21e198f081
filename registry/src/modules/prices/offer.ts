import { AgentGymError, type Offer, type Verification, verificationStatementSchema } from '@agentgym/contract'
import type { Actor } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import { packagePagePath } from '../../core/http/package-path.ts'
import type { Services } from '../../core/services.ts'
import { findParty, type Party, readingScope } from '../accounts/index.ts'
import { majorOf, readLicenseState } from '../entitlements/index.ts'
import { describeVerification } from '../evaluations/index.ts'
import { availableMinor, readOwnersAccounts } from '../ledger/index.ts'
import { chooseVersion, findReadableVersion, type ReadablePackage } from '../packages/index.ts'
import { manifestFacts } from '../search/index.ts'
import { type PricesNow, pricesNow } from './price-page.ts'

export type OfferRequest = {
  actor: Actor | null
  name: string
  range?: string | undefined
  /** An organization to buy for. */
  account?: string | undefined
}

/**
 * What the user would buy and pay, before they confirm. Throws `package_not_found`, `package_taken_down`,
 * `version_not_found`, `version_yanked`; if an account is named, also `unauthenticated`, `account_not_found`,
 * `forbidden`.
 */
export async function makeOffer(
  { database, config }: Pick<Services, 'database' | 'config'>,
  { actor, name, range = '', account }: OfferRequest,
): Promise<Offer> {
  const { query } = database
  const buyer = await buyerOf(query, actor, account)
  const { found, row } = await chooseVersion(query, actor, name, range)
  if (row.yanked_at !== null) throw yanked(found.name, row.version)
  const { manifest } = await findReadableVersion(query, found, row.version)
  return describeOffer(
    { query, config },
    {
      ...{ actor, buyer, found, manifest, version: row.version },
      prices: await pricesNow(query, found, config.training.currency),
      verification: found.kind === 'agent' ? await describeVerification(query, row.id) : null,
    },
  )
}

type OfferParts = {
  actor: Actor | null
  buyer: Party | null
  found: OfferedPackage
  version: string
  manifest: Parameters<typeof manifestFacts>[1]
  prices: PricesNow
  /** Null for scenarios. */
  verification: Verification | null
}

type OfferedPackage = Pick<ReadablePackage, 'id' | 'name' | 'kind' | 'owner_id' | 'member'>

/** The offer of a version. Queries the database only for the buyer's data. */
export async function describeOffer(
  { query, config }: { query: Queries; config: Pick<Services['config'], 'publicUrl' | 'market'> },
  { actor, buyer, found, version, manifest, prices, verification }: OfferParts,
): Promise<Offer> {
  const { title, license } = manifestFacts(found.name, manifest)
  const { current, upcoming, terms } = prices
  const major = majorOf(version)
  return {
    package: found.name,
    kind: found.kind,
    title,
    seller: found.name.slice(1, found.name.indexOf('/')),
    version,
    covers: `${major}.x`,
    price: current,
    upcoming,
    total_minor: current.amount_minor,
    license,
    terms: terms.terms,
    trial_calls: terms.trial_calls,
    calls_price_minor: terms.calls_price_minor,
    entitled: current.kind === 'free' || (await holds(query, { actor, buyer, found, major })),
    balance_minor: await balanceOf(query, actor, buyer, current.currency),
    test_money: config.market.stripe === null,
    verification: verification === null ? null : offeredVerification(verification, `${found.name}@${version}`),
    page: config.publicUrl + packagePagePath(found.name),
  }
}

async function buyerOf(query: Queries, actor: Actor | null, account: string | undefined): Promise<Party | null> {
  if (account !== undefined) return findParty(query, actor, account, { permission: 'read', scope: readingScope(actor) })
  return actor === null ? null : { id: actor.accountId, username: actor.username }
}

type Holding = { actor: Actor | null; buyer: Party | null; found: OfferedPackage; major: number }

/** Whether the buyer owns it. For an organization, its own licenses count, not its members'. */
async function holds(query: Queries, { actor, buyer, found, major }: Holding): Promise<boolean> {
  if (actor === null || buyer === null) return false
  if (buyer.id === actor.accountId ? found.member : found.owner_id === buyer.id) return true
  const holder = { ...actor, accountId: buyer.id }
  return (await readLicenseState(query, holder, { packageId: found.id, major })).license !== null
}

/** Null for anonymous callers, and for tokens without the scope. */
async function balanceOf(
  query: Queries,
  actor: Actor | null,
  buyer: Party | null,
  currency: string,
): Promise<number | null> {
  if (actor === null || buyer === null || !actor.scopes.has(readingScope(actor))) return null
  const accounts = await readOwnersAccounts(query, buyer.id)
  const balance = accounts.find((account) => account.code === 'balance' && account.currency === currency)
  return balance === undefined ? 0 : Number(availableMinor(balance))
}

function offeredVerification({ state, signed }: Verification, verified: string): Offer['verification'] {
  const statement = signed === null ? null : verificationStatementSchema.parse(JSON.parse(signed.statement))
  return {
    state,
    return_mean: statement?.held_out.return_mean ?? null,
    outcome: statement?.held_out.success ?? null,
    command: `agentgym agent verify ${verified}`,
  }
}

function yanked(name: string, version: string): AgentGymError {
  return new AgentGymError({
    code: 'version_yanked',
    message: `${name}@${version} is yanked and cannot be bought.`,
    hint: 'Choose another version, or omit it to use the latest one.',
    data: { name, version },
  })
}
