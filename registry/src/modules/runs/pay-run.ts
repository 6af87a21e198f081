import { randomUUID } from 'node:crypto'
import { AgentGymError, formatAmount } from '@agentgym/contract'
import { type Selectable, sql, type Transaction } from 'kysely'
import type { Database, Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { TrainingRunTable } from '../../core/database/training-schema.ts'
import { couldServe, type GpuNeed, isConnected } from '../../core/queue/gpu-matching.ts'
import type { ServerConfig } from '../../core/services.ts'
import { availableMinor, lockAccounts, openAccounts, type Transfer, transferId } from '../ledger/index.ts'
import { mustTransfer, repayDebt, requireWithinCaps, trainingQuota } from '../orders/index.ts'

type Paying = { database: Pick<Database, 'lock'>; config: Pick<ServerConfig, 'training'> }
type RunRow = Selectable<TrainingRunTable>
type Payer = Pick<RunRow, 'id' | 'owner_id' | 'token_id' | 'budget_minor'>

/** Reservation for a run: part of its account's free quota, and a hold on its account's balance. */
export type Cover = Pick<RunRow, 'free_minor' | 'held_minor' | 'hold_transfer_id' | 'cover_currency'>

const uncovered: Cover = { free_minor: 0, held_minor: 0, hold_transfer_id: null, cover_currency: null }

/** Whether the run's budget is reserved, so that a worker with a price may train it. */
export function isCovered({ free_minor, held_minor }: Pick<RunRow, 'free_minor' | 'held_minor'>): boolean {
  return free_minor + held_minor > 0
}

/** The highest hourly price of the connected workers that could serve such a run; 0 if all are free or there is none. */
export async function trainingPrice(query: Queries, need: GpuNeed): Promise<number> {
  const serving = couldServe({
    gpus: sql`${need.gpus}::int`,
    gpu_memory: sql`${need.gpu_memory}::bigint`,
    gpu_uses: sql`${sql.val([...need.gpu_uses])}::text[]`,
  })
  const { rows } = await sql<{ price: number | null }>`
    select max((description ->> 'price_minor_per_hour')::bigint) as price from workers
    where ${isConnected} and ${serving}`.execute(query)
  return rows[0].price ?? 0
}

/**
 * Reserves the rest of a run's budget before a worker with a price trains it: first from the account's free quota of
 * this month, the rest as a hold on its balance. Writes it to the run's row, which must be locked or new. Reserves
 * nothing for the operator's own account, which would pay itself, or if training is never charged.
 *
 * Throws `payment_required` for a run without a budget, `insufficient_funds`, `spend_cap_exceeded`; in which case
 * nothing has changed.
 */
export async function coverRun(
  { database, config }: Paying,
  query: Transaction<Schema>,
  run: Payer,
  pricePerHour: number,
): Promise<void> {
  const { currency, freeMinorPerMonth } = config.training
  if (freeMinorPerMonth === null || run.owner_id === (await operatorAccount(query))) return
  if (run.budget_minor === null) throw noBudget(run, { pricePerHour, currency })
  const cost = run.budget_minor - (await chargedMinor(query, run.id))
  if (cost <= 0) return
  // One reservation per account at a time, so that two runs cannot use the same part of its quota.
  await database.lock(query, `training-quota:${run.owner_id}`)
  const quota = await trainingQuota(query, config, run.owner_id)
  const free = quota === null ? 0 : Math.min(cost, Math.max(0, quota.limitMinor - quota.usedMinor))
  const cover = { ...(await holdForTraining(query, run, { amountMinor: cost - free, currency })), free_minor: free }
  await query
    .updateTable('training_runs')
    .set({ ...cover, cover_currency: currency })
    .where('id', '=', run.id)
    .execute()
}

type Held = Pick<Cover, 'held_minor' | 'hold_transfer_id'>

async function holdForTraining(
  query: Transaction<Schema>,
  { id: reference, owner_id: owner, token_id: tokenId }: Payer,
  { amountMinor, currency }: { amountMinor: number; currency: string },
): Promise<Held> {
  if (amountMinor === 0) return { held_minor: 0, hold_transfer_id: null }
  const [balance, counterpart] = await openAccounts(query, [
    { owner, code: 'balance', currency },
    { owner: null, code: 'holds', currency },
  ])
  const account = (await lockAccounts(query, [balance])).get(balance)
  const available = account === undefined ? 0 : Number(availableMinor(account))
  if (available < amountMinor) throw tooLittle({ needed: amountMinor, available, currency })
  await requireWithinCaps(query, { accountId: owner, tokenId, amountMinor, currency })
  const id = randomUUID()
  await mustTransfer(query, [
    {
      ...{ id, kind: 'pending', code: 'training_hold', amountMinor: BigInt(amountMinor), currency, reference },
      ...{ debitAccountId: balance, creditAccountId: counterpart },
    },
  ])
  return { held_minor: amountMinor, hold_transfer_id: id }
}

/**
 * Charges an ending run `costMinor` less its earlier charges: first from the reserved free quota, then from the hold,
 * which is paid to the operator. Releases the rest of the hold. Writes one charge per end of the run. Returns the run's
 * updated columns.
 */
export async function chargeRun(
  query: Transaction<Schema>,
  run: RunRow,
  { costMinor, currency }: { costMinor: number; currency: string },
): Promise<Cover> {
  const amount = Math.max(0, costMinor - (await chargedMinor(query, run.id)))
  const free = Math.min(amount, run.free_minor)
  const paid = Math.min(amount - free, run.held_minor)
  const operator = paid > 0 ? await operatorAccount(query) : null
  const { cover_currency: held } = run
  if (run.hold_transfer_id !== null && held !== null) await payFromHold(query, run, { paid, operator, currency: held })
  await query
    .insertInto('training_charges')
    .values({
      ...{ run_id: run.id, resumption: run.resumptions, amount_minor: amount, currency: held ?? currency },
      ...{ free_minor: free, paid_minor: paid, paid_to: operator, token_id: run.token_id },
      price_milliseconds: run.price_milliseconds,
    })
    .execute()
  return uncovered
}

async function payFromHold(
  query: Transaction<Schema>,
  { id: reference, owner_id: owner, resumptions, hold_transfer_id: pendingId }: RunRow,
  { paid, operator, currency }: { paid: number; operator: string | null; currency: string },
): Promise<void> {
  const [balance, income] = await openAccounts(query, [
    { owner, code: 'balance', currency },
    operator === null ? { owner: null, code: 'fees', currency } : { owner: operator, code: 'earnings', currency },
  ])
  const transfers: Transfer[] = [
    {
      ...{ id: transferId('training_hold_end', pendingId ?? ''), kind: 'void', pendingId: pendingId ?? '' },
      ...{ code: 'training_hold', reference, linked: paid > 0 },
    },
  ]
  if (paid > 0)
    transfers.push({
      ...{ id: transferId('training', reference, String(resumptions)), kind: 'posted', code: 'training', reference },
      ...{ debitAccountId: balance, creditAccountId: income, amountMinor: BigInt(paid), currency },
    })
  // One chain, so that the money is never free in between.
  await mustTransfer(query, transfers)
  if (paid > 0 && operator !== null) await repayDebt(query, { accountId: operator, currency, reference })
}

/** The account that receives payments for training: the oldest operator's. Null if there is none. */
async function operatorAccount(query: Queries): Promise<string | null> {
  const row = await query
    .selectFrom('accounts')
    .select('id')
    .where('operator', '=', true)
    .where('disabled_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  return row?.id ?? null
}

async function chargedMinor(query: Queries, runId: string): Promise<number> {
  const { charged } = await query
    .selectFrom('training_charges')
    .select(({ fn }) => fn.sum<number | null>('amount_minor').as('charged'))
    .where('run_id', '=', runId)
    .executeTakeFirstOrThrow()
  return Number(charged ?? 0)
}

function noBudget(
  { id }: Payer,
  { pricePerHour, currency }: { pricePerHour: number; currency: string },
): AgentGymError {
  const price = formatAmount(pricePerHour, currency)
  return new AgentGymError({
    code: 'payment_required',
    message: `Training on this server costs up to ${price} an hour, and the run has no budget.`,
    hint: 'Set a budget: `--budget AMOUNT`, or `budget_minor` in the API. It is held on the balance, and the unused part is released when the run ends.',
    data: { run: id, price_minor_per_hour: pricePerHour, currency },
  })
}

function tooLittle({ needed, available, currency }: { needed: number; available: number; currency: string }) {
  const missing = formatAmount(needed - available, currency)
  return new AgentGymError({
    code: 'insufficient_funds',
    message: `The run's budget needs ${formatAmount(needed, currency)} on the balance, and ${formatAmount(available, currency)} is available (${missing} short).`,
    hint: `Top up at least ${missing}: \`agentgym balance top-up AMOUNT\`. Or set a lower budget.`,
    data: { needed_minor: needed, available_minor: available, missing_minor: needed - available, currency },
  })
}
