import { AgentGymError, type ExpectedPrice, formatAmount } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import type { Actor } from '../../core/access/authorise.ts'
import type { Schema } from '../../core/database/schema.ts'
import { packagePagePath } from '../../core/http/package-path.ts'
import type { ServerConfig } from '../../core/services.ts'
import type { HeldPrice } from '../entitlements/prices.store.ts'
import { majorOf, refusal, tarballAccess } from '../entitlements/require-tarball.ts'
import { standingOf, useLicence } from '../entitlements/standing.ts'
import { holdForRun } from './run-order.ts'

export type WantedRun = {
  actor: Actor
  /** Written already: an order of the run names it. */
  runId: string
  /** The account that it runs for. */
  owner: { id: string; username: string }
  /** `member`: whoever asks belongs to the account that owns it. */
  scenario: { packageId: string; name: string; version: string; member: boolean }
  /** The price that they were shown. */
  expectedPrice: ExpectedPrice | undefined
  /** What it costs by the run is paid already, or held elsewhere: it goes on. */
  paid?: boolean
  ip: string | null
}

/**
 * The one question before a run: may they train on that scenario? Whoever may have its files may. Where it is paid for by
 * the run, its price is held on the balance, as part of the transaction; they have to have said that they know it.
 *
 * Throws `payment_required`, `package_taken_down`, and what `holdForRun` throws.
 */
export async function requireRunnable(
  query: Transaction<Schema>,
  config: Pick<ServerConfig, 'training' | 'market' | 'publicUrl'>,
  { actor, runId, owner, scenario, expectedPrice, paid = false, ip }: WantedRun,
): Promise<void> {
  if (scenario.member) return
  const { packageId, name, version, member } = scenario
  const major = majorOf(version)
  const standing = await standingOf(query, actor, { packageId, major })
  const { licence, price } = standing
  const access = tarballAccess(member, standing)
  if (access === 'granted') {
    // Trained on is used: nobody has the agent and their money back unasked.
    if (licence !== null && !licence.used && !(await useLicence(query, licence.orderId)))
      return requireRunnable(query, config, { actor, runId, owner, scenario, expectedPrice, paid, ip })
    return
  }
  if (access !== 'hosted_only')
    throw refusal(access, { name, version, major, publicUrl: config.publicUrl, actor }, standing)
  if (paid) return
  if (expectedPrice === undefined) throw unconfirmed(scenario, price, config.publicUrl)
  await holdForRun(query, config, { actor, buyer: owner, runId, name, version, expectedPrice, ip })
}

function unconfirmed(
  { name, version }: WantedRun['scenario'],
  { id, kind, amountMinor, currency }: HeldPrice,
  publicUrl: string,
): AgentGymError {
  const amount = currency === null ? String(amountMinor) : formatAmount(amountMinor, currency)
  return new AgentGymError({
    code: 'payment_required',
    message: `Every run on ${name}@${version} costs ${amount}, and the price was not confirmed.`,
    hint: `Start it with this price as \`expected_price\`; it is held on the balance, and paid when the run trains.`,
    data: {
      name,
      version,
      price: { id, kind, amount_minor: amountMinor, currency },
      page: publicUrl + packagePagePath(name),
    },
  })
}
