import { AgentGymError, type EvaluationJob } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, requireActor } from '../../core/access/authorize.ts'
import { limitRate } from '../../core/access/rate-limit.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import { holdsAnyLicense } from '../entitlements/index.ts'
import { enqueueVerification, verificationEpisodes } from '../evaluations/index.ts'
import { findReadablePackage, findReadableVersion, type ReadablePackage } from '../packages/index.ts'
import { evaluationOf } from '../runs/index.ts'

type VerificationRequest = {
  actor: Actor | null
  name: string
  version: string
  traceparent: string | null
  ip: string | null
}

/** Rate limit of repeated verifications of a version, across all users. */
const versionRate = { limit: 3, windowSeconds: 86_400 }

/**
 * Queues a new verification of a published agent, for its members, its buyers, and operators. The result becomes the
 * version's verification; on a mismatch, buyers get a refund. Returns a pending one if it exists.
 *
 * Throws `package_not_found`, `version_not_found`, `version_not_published`, `forbidden`, `rate_limited`,
 * `request_invalid` for a scenario.
 */
export async function requestVerification(services: Services, request: VerificationRequest): Promise<EvaluationJob> {
  const { database } = services
  const { name, version, traceparent, ip } = request
  const known = requireActor(request.actor, 'training:evaluate')
  const { queue } = services
  const found = await findReadablePackage(database.query, known, name)
  const row = await findReadableVersion(database.query, found, version)
  await requireConcerned(services, known, found)
  const manifest = await agentManifest(services, found, row)
  const open = await database.transaction(async (query) => {
    const begun = await openVerification(query, row.id)
    if (begun !== undefined) await queue.raise(query, 'evaluate', begun.id)
    return begun
  })
  if (open !== undefined) return evaluationOf(open)
  await services.openJobs.requireRoom('evaluate', known, verificationEpisodes(manifest))
  await limitRate(database, `verify:${row.id}`, versionRate)
  return database.transaction(async (query) => {
    await database.lock(query, `verify:${row.id}`)
    const begun = await openVerification(query, row.id)
    if (begun !== undefined) return evaluationOf(begun)
    const evaluation = await enqueueVerification(query, services, {
      versionId: row.id,
      agent: manifest,
      requestedBy: known.accountId,
      traceparent,
    })
    await recordAudit(query, {
      ...{ actor: known, ip, action: 'package.verify', subject: `${found.name}@${version}` },
      data: { evaluation: evaluation.id },
    })
    return evaluationOf(evaluation)
  })
}

async function requireConcerned({ database }: Services, actor: Actor, found: ReadablePackage): Promise<void> {
  if (found.member || actor.operator || (await holdsAnyLicense(database.query, actor, found.id))) return
  throw new AgentGymError({
    code: 'forbidden',
    message: `${found.name} can be verified only by its members, buyers and operators.`,
    hint: `\`agentgym agent verify ${found.name}\` verifies it on your own machine.`,
  })
}

async function agentManifest(
  { database }: Services,
  found: ReadablePackage,
  { id, version, state }: { id: string; version: string; state: string },
) {
  const row = await database.query
    .selectFrom('agent_versions')
    .select('manifest')
    .where('version_id', '=', id)
    .executeTakeFirst()
  if (row === undefined)
    throw new AgentGymError({
      code: 'request_invalid',
      message: `${found.name} is a scenario; only agents can be verified.`,
      data: { field: 'name', in: 'path' },
    })
  if (state !== 'published')
    throw new AgentGymError({
      code: 'version_not_published',
      message: `${found.name}@${version} ${state === 'rejected' ? 'was rejected' : 'is still being checked'}.`,
      data: { state },
    })
  return row.manifest
}

/** The pending verification of a version. */
export function openVerification(query: Transaction<Schema>, versionId: string) {
  return query
    .selectFrom('evaluations')
    .selectAll()
    .where('version_id', '=', versionId)
    .where('purpose', '=', 'verification')
    .where('ended_at', 'is', null)
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
}
