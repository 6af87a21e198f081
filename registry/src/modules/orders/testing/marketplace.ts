import assert from 'node:assert'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { PriceKind } from '@agentgym/contract'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import type { Transaction } from 'kysely'
import { type Actor, scopes } from '../../../core/access/authorize.ts'
import type { Database } from '../../../core/database/database.ts'
import type { Schema } from '../../../core/database/schema.ts'
import { availableMinor, openAccounts, readOwnersAccounts } from '../../ledger/accounts.ts'
import { applyTransfers } from '../../ledger/apply-transfers.ts'
import { auditLedger } from '../../ledger/audit-ledger.ts'
import { auditMarket } from '../audit-market.ts'
import { type OrderRequest, type Placed, placeOrder } from '../place-order.ts'

const currency = 'USD'

/** A user with all scopes, without signing up. */
export async function createTrader({ query }: Database, prefix = 'trader'): Promise<Actor> {
  const username = `${prefix}${randomBytes(8).toString('hex')}`
  const { id } = await query
    .insertInto('accounts')
    .values({ kind: 'user', username, username_canonical: username, email: `${username}@example.org` })
    .returning('id')
    .executeTakeFirstOrThrow()
  return actorOf(id, username)
}

export async function createOrganization(
  { query }: Database,
  members: Record<string, 'owner' | 'admin' | 'member' | 'viewer'>,
): Promise<{ id: string; username: string }> {
  const username = `org${randomBytes(8).toString('hex')}`
  const { id } = await query
    .insertInto('accounts')
    .values({ kind: 'organisation', username, username_canonical: username, email: null })
    .returning('id')
    .executeTakeFirstOrThrow()
  for (const [user, role] of Object.entries(members))
    await query.insertInto('memberships').values({ organisation_id: id, user_id: user, role }).execute()
  return { id, username }
}

function actorOf(accountId: string, username: string): Actor {
  return { accountId, username, emailVerified: true, operator: false, tokenId: null, scopes: new Set(scopes) }
}

/** The actor of a user's token. */
export async function createTokenActor({ query }: Database, actor: Actor): Promise<Actor & { tokenId: string }> {
  const { id } = await query
    .insertInto('tokens')
    .values({
      ...{ account_id: actor.accountId, name: 'card', hash: randomBytes(32).toString('hex'), prefix: 'agy_' },
      scopes: JSON.stringify([...actor.scopes]),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { ...actor, tokenId: id }
}

export type Listing = {
  /** The account that sells. */
  ownerId: string
  owner: string
  kind?: 'scenario' | 'agent'
  price?: { kind: PriceKind; amountMinor: number }
  versions?: string[]
  /** Agents: the scenario that they were trained on. */
  scenario?: Listed
  royaltyBasisPoints?: number
  /** Of each version's package.json. */
  license?: string
}

export type Listed = {
  id: string
  name: string
  ownerId: string
  priceId: string | null
  versions: Record<string, string>
}

/** A published package as its rows, without tarball and checks. */
export async function listPackage(database: Database, listing: Listing): Promise<Listed> {
  const { query } = database
  const { ownerId, owner, kind = 'scenario', versions = ['1.0.0'], price, scenario, royaltyBasisPoints } = listing
  const { license = 'MIT' } = listing
  const base = `p${randomBytes(8).toString('hex')}`
  const name = `@${owner}/${base}`
  const { id } = await query
    .insertInto('packages')
    .values({ name, name_canonical: name, owner_id: ownerId, kind, keywords: '[]' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const listed: Listed = { id, name, ownerId, priceId: null, versions: {} }
  for (const version of versions)
    listed.versions[version] = await insertVersion(database, listed, { version, license, scenario })
  const latest = versions.at(-1) ?? ''
  await query.insertInto('tags').values({ package_id: id, tag: 'latest', version: latest }).execute()
  if (royaltyBasisPoints !== undefined)
    await query.insertInto('sale_terms').values({ package_id: id, royalty_basis_points: royaltyBasisPoints }).execute()
  if (price !== undefined) listed.priceId = await setListPrice(database, listed, price)
  return listed
}

async function insertVersion(
  { query }: Database,
  { id, name, ownerId }: Listed,
  { version, license, scenario }: { version: string; license: string; scenario: Listed | undefined },
): Promise<string> {
  const bytes = randomBytes(32)
  const inserted = await query
    .insertInto('versions')
    .values({
      ...{
        package_id: id,
        version,
        state: 'published',
        checks: '[]',
        manifest: JSON.stringify({ name, version, license }),
      },
      ...{ readme: '', integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}` },
      ...{ shasum: createHash('sha1').update(bytes).digest('hex'), object_key: `sha256/${bytes.toString('hex')}` },
      ...{ size: 1, unpacked_size: 1, file_count: 1, bundle_hash: bundleHash(id, version), published_by: ownerId },
      ...{ intended_tag: 'latest', published_at: new Date() },
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  if (scenario === undefined) return inserted.id
  const manifest = {
    scenario: { name: scenario.name, version: '1.0.0', hash: bundleHash(scenario.id, '1.0.0') },
  }
  await query
    .insertInto('agent_versions')
    .values({ version_id: inserted.id, manifest: JSON.stringify(manifest) } as never)
    .execute()
  return inserted.id
}

const bundleHash = (id: string, version: string) => createHash('sha256').update(`${id} ${version}`).digest('hex')

/** Each later than the one before, and all past: two prices of one millisecond would have no order. */
const nextMoment = () => new Date(began + ++moments)
const began = Date.now() - 3_600_000
let moments = 0

/** Sets a price that is effective immediately. */
export async function setListPrice(
  { query }: Database,
  { id, ownerId }: Pick<Listed, 'id' | 'ownerId'>,
  { kind, amountMinor }: { kind: PriceKind; amountMinor: number },
): Promise<string> {
  const row = await query
    .insertInto('prices')
    .values({ package_id: id, kind, amount_minor: amountMinor, currency, effective_at: nextMoment(), set_by: ownerId })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

/** A run's row, as `submitRun` writes it before it asks for its price. */
export async function insertRun(
  query: Transaction<Schema>,
  { accountId }: Pick<Actor, 'accountId'>,
  scenarioVersionId: string,
): Promise<string> {
  const { id } = await query
    .insertInto('training_runs')
    .values({
      ...{ owner_id: accountId, created_by: accountId, scenario_version_id: scenarioVersionId, algorithm: 'ppo' },
      ...{ settings: '{}', seed: 1, note: null, request_hash: randomBytes(32).toString('hex'), trajectories_every: 0 },
      ...{ publish_name: null, publish_version: null, publish_visibility: null, idempotency_key: null },
      ...{ traceparent: null, budget_minor: null, last_seq: 0 },
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Credits a balance like a top-up. */
export async function fund(database: Database, accountId: string, amountMinor: number): Promise<void> {
  await database.transaction(async (query) => {
    const [provider, balance] = await openAccounts(query, [
      { owner: null, code: 'provider', currency },
      { owner: accountId, code: 'balance', currency },
    ])
    await applyTransfers(query, [
      {
        ...{ id: randomUUID(), kind: 'posted', code: 'top_up', amountMinor: BigInt(amountMinor), currency },
        ...{ debitAccountId: provider, creditAccountId: balance },
      },
    ])
  })
}

/** Balances of an owner's accounts by code; debts are negative. */
export async function holdings({ query }: Database, ownerId: string | null): Promise<Record<string, number>> {
  const accounts = await readOwnersAccounts(query, ownerId)
  return Object.fromEntries(accounts.map((account) => [account.code, Number(availableMinor(account))]))
}

/** All of a balance: what is available, and what is held. */
export async function fullBalance({ query }: Database, ownerId: string): Promise<number> {
  const accounts = await readOwnersAccounts(query, ownerId)
  const balances = accounts.filter(({ code }) => code === 'balance')
  return balances.reduce((sum, { creditsPosted, debitsPosted }) => sum + Number(creditsPosted - debitsPosted), 0)
}

export function buy(
  services: TestServices,
  actor: Actor,
  listed: Pick<Listed, 'name'>,
  { key = randomUUID(), ...request }: Partial<OrderRequest> & { key?: string } = {},
): Promise<Placed> {
  const requested: OrderRequest = { pay_with: 'balance', ...request, package: listed.name }
  return placeOrder(services, { actor, request: requested, idempotencyKey: key, ip: null })
}

/** The code of the error that something fails with; 'done' where it does not. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'done'
  } catch (error) {
    if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
    throw error
  }
}

export type Shop = {
  services: TestServices
  seller: Actor
  /** Of the scenario that the seller's agents are trained on; asks for 15 % of what they are sold for. */
  author: Actor
  scenario: Listed
  /** Another package of the seller. Default: free. */
  list(price?: Listing['price'], more?: Partial<Listing>): Promise<Listed>
  /** A new user with that balance. */
  buyer(fundsMinor: number): Promise<Actor>
  /** Audits ledger and market, and closes the database. */
  close(): Promise<void>
}

export async function openShop(database: Database): Promise<Shop> {
  const services = await testServices(database)
  const seller = await createTrader(database, 'seller')
  const author = await createTrader(database, 'author')
  const authors = { ownerId: author.accountId, owner: author.username }
  const scenario = await listPackage(database, { ...authors, royaltyBasisPoints: 1_500 })
  return {
    ...{ services, seller, author, scenario },
    list: (price, more) => listPackage(database, { ownerId: seller.accountId, owner: seller.username, price, ...more }),
    buyer: async (fundsMinor) => {
      const actor = await createTrader(database, 'buyer')
      if (fundsMinor > 0) await fund(database, actor.accountId, fundsMinor)
      return actor
    },
    close: async () => {
      const findings = [...(await auditLedger(database)), ...(await auditMarket(database))]
      await services.remove()
      await database.close()
      assert.deepEqual(findings, [])
    },
  }
}
