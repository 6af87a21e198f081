import { randomBytes } from 'node:crypto'
import type { LeasedCheck } from '@agentgym/contract'
import { goodTarball } from '../../../../../testdata/tarballs/good-package.ts'
import { type Actor, scopes } from '../../../core/access/authorize.ts'
import type { Database } from '../../../core/database/database.ts'
import { backgroundSettled } from '../../../core/scheduled-tasks/scheduled-tasks.ts'
import { canonicalName } from '../../accounts/account-name.ts'
import { leaseJob } from '../../jobs/lease-jobs.ts'
import { checkJobs, finishCheck } from '../check-jobs.ts'
import type { PackageServices } from '../package-services.ts'
import { publishVersion, type Upload } from '../publish-version.ts'

/** A user with an account of their own, who may do everything with it. */
export async function createActor(database: Database, prefix = 'u'): Promise<Actor> {
  const username = `${prefix}${randomBytes(6).toString('hex')}`
  const { id } = await database.query
    .insertInto('accounts')
    .values({
      kind: 'user',
      username,
      username_canonical: canonicalName(username),
      display_name: null,
      email: `${username}@example.org`,
      email_verified_at: null,
      password_hash: null,
      disabled_at: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return {
    accountId: id,
    username,
    emailVerified: false,
    operator: false,
    tokenId: null,
    scopes: new Set(scopes),
  }
}

/** Uploads a version of `@actor/base`; `more` changes the upload, `manifest` its package.json. */
export async function upload(
  services: PackageServices,
  actor: Actor,
  version: string,
  {
    base = 'maze',
    manifest = {},
    ...more
  }: Partial<Upload> & { base?: string; manifest?: Record<string, unknown> } = {},
) {
  const name = `@${actor.username}/${base}`
  const tarball = goodTarball({ name, version, ...manifest })
  return publishVersion(services, { actor, name, version, tarball, ip: null, ...more })
}

/** The next waiting check, as a worker gets it. */
export async function leaseCheck(services: PackageServices): Promise<LeasedCheck | undefined> {
  const job = await leaseJob(services, [checkJobs(services)], { kinds: ['check'] })
  return job?.kind === 'check' ? job : undefined
}

/** Completes every waiting check with that result; returns the decisions. */
export async function checkAll(
  services: PackageServices,
  ok = true,
  order: 'first first' | 'last first' = 'first first',
): Promise<string[]> {
  const jobs: LeasedCheck[] = []
  for (let job = await leaseCheck(services); job !== undefined; job = await leaseCheck(services)) jobs.push(job)
  if (order === 'last first') jobs.reverse()
  const { queue } = services
  const decided: string[] = []
  for (const { id, lease, package: checked } of jobs) {
    const { name, version } = checked
    const checks = [{ id: 'loads', ok, message: ok ? 'It loads.' : 'It does not load.' }]
    const state = await finishCheck(services, queue.attemptOf('check', id, lease), { ok, name, version, checks })
    decided.push(`${name}@${version} ${state}`)
  }
  return decided
}

/** Uploads a version and has it published, and its README rendered. */
export async function publish(...given: Parameters<typeof upload>): Promise<void> {
  await upload(...given)
  await checkAll(given[0])
  await backgroundSettled()
}
