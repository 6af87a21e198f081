import { AgentGymError, type SetPriceRequest } from '@agentgym/contract'
import type { Selectable } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { SaleTermsTable } from '../../core/database/market-schema.ts'
import type { ServerConfig } from '../../core/services.ts'
import { isUnlicensed } from '../entitlements/index.ts'

/** Terms that a seller sets besides the price: see the contract's fields of the same names. */
export type SaleTerms = Pick<
  Selectable<SaleTermsTable>,
  'royalty_basis_points' | 'trial_calls' | 'calls_price_minor' | 'terms'
>

/** Announced terms that cost buyers more take effect after the notice period. */
export type NextTerms = {
  royalty_basis_points: number
  calls_price_minor: number
  trial_calls: number
  at: Date
}

export type StoredTerms = SaleTerms & { next: NextTerms | null }

const unsaid: StoredTerms = { royalty_basis_points: 0, trial_calls: 0, calls_price_minor: 0, terms: '', next: null }

/** The terms in effect at `at`, and announced ones. If none were ever set, nothing is charged. */
export async function saleTerms(query: Queries, packageId: string, at: Date): Promise<StoredTerms> {
  const row = await query.selectFrom('sale_terms').selectAll().where('package_id', '=', packageId).executeTakeFirst()
  return termsAt(row, at)
}

/** The same from a stored row, which is undefined if there is none. */
export function termsAt(
  row: Omit<Selectable<SaleTermsTable>, 'package_id' | 'updated_at'> | undefined,
  at: Date,
): StoredTerms {
  if (row === undefined) return unsaid
  const { royalty_basis_points, trial_calls, calls_price_minor, terms } = row
  const said = { royalty_basis_points, trial_calls, calls_price_minor, terms }
  const { next_royalty_basis_points: royalty, next_calls_price_minor: calls } = row
  const { next_trial_calls: trial, next_at: nextAt } = row
  if (nextAt === null || royalty === null || calls === null || trial === null) return { ...said, next: null }
  const next = { royalty_basis_points: royalty, calls_price_minor: calls, trial_calls: trial }
  return nextAt <= at ? { ...said, ...next, next: null } : { ...said, next: { ...next, at: nextAt } }
}

type RequestedTerms = Partial<SaleTerms>

/**
 * The change from the current to the requested terms: immediately for terms that cost no one more, the rest at
 * `noticeAt`.
 */
export function changedTerms(held: StoredTerms, request: RequestedTerms, noticeAt: Date | null): StoredTerms {
  const wanted: SaleTerms = {
    royalty_basis_points: request.royalty_basis_points ?? (held.next ?? held).royalty_basis_points,
    trial_calls: request.trial_calls ?? (held.next ?? held).trial_calls,
    calls_price_minor: request.calls_price_minor ?? (held.next ?? held).calls_price_minor,
    terms: request.terms ?? held.terms,
  }
  const { royalty_basis_points: royalty, calls_price_minor: calls, trial_calls: trial } = wanted
  const isRaise = royalty > held.royalty_basis_points || calls > held.calls_price_minor || trial < held.trial_calls
  if (noticeAt === null || !isRaise) return { ...wanted, next: null }
  const { next } = held
  // Changes within the announced terms need no new notice.
  const isAnnounced =
    next !== null &&
    royalty <= next.royalty_basis_points &&
    calls <= next.calls_price_minor &&
    trial >= next.trial_calls
  return {
    ...wanted,
    royalty_basis_points: Math.min(royalty, held.royalty_basis_points),
    calls_price_minor: Math.min(calls, held.calls_price_minor),
    trial_calls: Math.max(trial, held.trial_calls),
    next: {
      ...{ royalty_basis_points: royalty, calls_price_minor: calls, trial_calls: trial },
      at: isAnnounced ? next.at : noticeAt,
    },
  }
}

export async function writeTerms(query: Queries, packageId: string, { next, ...terms }: StoredTerms, at: Date) {
  const row = {
    ...terms,
    next_royalty_basis_points: next?.royalty_basis_points ?? null,
    next_calls_price_minor: next?.calls_price_minor ?? null,
    next_trial_calls: next?.trial_calls ?? null,
    next_at: next?.at ?? null,
    updated_at: at,
  }
  await query
    .insertInto('sale_terms')
    .values({ package_id: packageId, ...row })
    .onConflict((conflict) => conflict.column('package_id').doUpdateSet(row))
    .execute()
}

/** Throws `request_invalid` for terms that do not apply to the package's kind or price. */
export function vetSale(
  packageKind: 'scenario' | 'agent',
  { kind, amount_minor, royalty_basis_points = 0, trial_calls = 0, calls_price_minor = 0 }: SetPriceRequest,
  { royaltyCapBasisPoints }: Pick<ServerConfig['market'], 'royaltyCapBasisPoints'>,
): void {
  if (kind === 'free' && amount_minor !== undefined) throw invalid('amount_minor', 'a free package has no price')
  if (kind !== 'free' && amount_minor === undefined) throw invalid('amount_minor', 'the price is required')
  if (packageKind === 'agent') {
    if (kind === 'per_run')
      throw invalid('kind', 'only scenarios are sold per run; set calls_price_minor to charge for calls of an agent')
    if (royalty_basis_points > 0)
      throw invalid('royalty_basis_points', 'royalties go to the author of the scenario that an agent was trained on')
    return
  }
  if (trial_calls > 0) throw invalid('trial_calls', 'only agents have trial calls')
  if (calls_price_minor > 0) throw invalid('calls_price_minor', 'only agents have a price for calls')
  if (royalty_basis_points > royaltyCapBasisPoints)
    throw invalid('royalty_basis_points', `this server allows at most ${royaltyCapBasisPoints}`)
}

/**
 * A paid package must have terms: a license, or the seller's own. Throws `request_invalid` if it would have neither.
 * `license`: of the latest version.
 */
export function requireTerms(
  { kind, calls_price_minor = 0 }: SetPriceRequest,
  { name, license, terms }: { name: string; license: string | null; terms: string },
): void {
  if (!isUnlicensed(license) || terms.trim() !== '' || (kind === 'free' && calls_price_minor === 0)) return
  throw new AgentGymError({
    code: 'request_invalid',
    message: `${name} cannot have a price: its license is UNLICENSED, which allows buyers nothing, and it has no terms.`,
    hint: 'Set terms with the price (`agentgym price NAME AMOUNT --terms FILE`), or publish a version with a license.',
    data: { field: 'terms', in: 'json', name, license },
  })
}

function invalid(field: string, why: string): AgentGymError {
  return new AgentGymError({
    code: 'request_invalid',
    message: `The field "${field}" of the body is invalid: ${why}.`,
    data: { field, in: 'json' },
  })
}
