import { isDeepStrictEqual } from 'node:util'
import type { Evaluation, VerificationStatement } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import type { EvaluationRun } from './evaluation-runs.ts'
import { canonicalJson, signingKey } from './signing-keys.ts'
import type { EvaluatedAgent, ScenarioVersion } from './verification-subject.ts'
import { evaluationOf } from './worker-outcome.ts'

export type SignedStatement = { statement: string; signature: string; keyId: string; heldOut: Evaluation }

/** A task set below this size can be memorized, or played completely in advance. */
const fixedBelow = 100_000

/** Signs the result that these runs agree on. */
export async function signStatement(
  services: Services,
  query: Transaction<Schema>,
  { agent, scenario }: { agent: EvaluatedAgent; scenario: ScenarioVersion },
  agreed: readonly EvaluationRun[],
  seasonId: number | null,
): Promise<SignedStatement> {
  const { report, runtime } = agreed[0]
  const claim = evaluationOf(report.results, 'claim')
  const heldOut = withAgreed(evaluationOf(report.results, 'held_out'), agreed)
  if (claim === null || heldOut === null || report.output_hash === null)
    throw new Error(`a run of ${agent.name} is verified without results`)
  const key = await signingKey(query, services)
  const { tasks } = heldOut
  const season = await seasonOf(query, seasonId)
  const fields: VerificationStatement = {
    type: isOlder(claim) && isOlder(heldOut) ? 'agentgym-verification-2' : 'agentgym-verification-3',
    server: services.config.publicUrl,
    key_id: key.id,
    agent: {
      name: agent.name,
      version: agent.version,
      integrity: agent.integrity,
      model_hash: agent.manifest?.model_hash ?? '',
    },
    scenario: {
      name: scenario.name,
      version: scenario.version,
      hash: scenario.hash,
      integrity: scenario.integrity,
    },
    claim,
    // Omitted even after the season: with the season's secret it can be computed.
    held_out: { ...heldOut, seed: season === null ? heldOut.seed : null },
    season,
    task_set: tasks === undefined ? null : { split: tasks.split, size: tasks.size, fixed: tasks.size < fixedBelow },
    workers: await workersOf(query, agreed),
    output_hash: report.output_hash,
    runtime,
    verified_at: new Date().toISOString(),
  }
  const statement = canonicalJson(fields)
  return { statement, signature: key.sign(statement), keyId: key.id, heldOut }
}

/** The held-out evaluation, without its calibration and its baselines unless all of the workers report the same. */
function withAgreed(heldOut: Evaluation | null, agreed: readonly EvaluationRun[]): Evaluation | null {
  if (heldOut === null) return null
  const { calibration, baselines, ...rest } = heldOut
  const evaluations = agreed.map(({ report }) => evaluationOf(report.results, 'held_out'))
  const same = <Field extends 'calibration' | 'baselines'>(field: Field) =>
    heldOut[field] !== undefined && evaluations.every((each) => isDeepStrictEqual(each?.[field], heldOut[field]))
  return { ...rest, ...(same('calibration') ? { calibration } : {}), ...(same('baselines') ? { baselines } : {}) }
}

const isOlder = ({ calibration, baselines }: Evaluation) => calibration === undefined && baselines === undefined

async function seasonOf(query: Queries, id: number | null): Promise<{ id: string; commitment: string } | null> {
  if (id === null) return null
  const { commitment } = await query
    .selectFrom('seasons')
    .select('commitment')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return { id: String(id), commitment }
}

/** Workers with the names of their owners; null for the server's own worker. */
async function workersOf(query: Queries, agreed: readonly EvaluationRun[]) {
  const owners = agreed.map(({ owner }) => owner)
  const rows = await query.selectFrom('accounts').select(['id', 'username']).where('id', 'in', owners).execute()
  return agreed.map(({ worker: id, owner, runtime }) => ({
    ...{ id, owner: rows.find((row) => row.id === owner)?.username ?? null, runtime },
  }))
}
