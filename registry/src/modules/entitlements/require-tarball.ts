import assert from 'node:assert'
import type { AgentGymError } from '@agentgym/contract'
import semver from 'semver'
import type { Actor } from '../../core/access/authorise.ts'
import type { Queries } from '../../core/database/database.ts'
import { hostedOnly, packageTakenDown, paymentRequired, type Wanted } from './refusals.ts'
import { type Standing, standingOf, useLicence } from './standing.ts'

/** What somebody may have of a package that they may know of. */
export type Access = 'granted' | 'taken_down' | 'payment_required' | 'hosted_only'

/**
 * May they have the files? Members of the account that owns it always; whoever holds a licence, whatever it costs by now,
 * unless it was taken down for all; everybody what is free. What is paid by the run is handed out to nobody.
 */
export function tarballAccess(member: boolean, { price, takenDown, licence }: Standing): Access {
  if (member) return 'granted'
  if (takenDown !== null && (takenDown.forAll || licence === null)) return 'taken_down'
  if (licence !== null || price.kind === 'free') return 'granted'
  return price.kind === 'per_run' ? 'hosted_only' : 'payment_required'
}

type Asked = {
  actor: Actor | null
  found: { id: string; name: string; member: boolean }
  version: string
  publicUrl: string
}

/**
 * The one question before a tarball goes out. `use`: it does, and whoever has a licence has used it from then on: noted before
 * a byte has left, so that nobody has both the files and their money back unasked.
 *
 * Throws `payment_required`, `hosted_only`, `package_taken_down`.
 */
export async function requireTarball(query: Queries, asked: Asked, { use }: { use: boolean }): Promise<void> {
  if (asked.found.member) return
  const { licence } = await requireAccess(query, asked)
  if (!use || licence === null || licence.used) return
  // Unused and now not to be used: it was refunded meanwhile, or another download came first.
  if (!(await useLicence(query, licence.orderId))) await requireAccess(query, asked)
}

async function requireAccess(query: Queries, asked: Asked): Promise<Standing> {
  const { standing, refused } = await judge(query, asked)
  if (refused !== null) throw refused
  return standing
}

/** What `requireTarball` would throw; null where it would not. */
export async function tarballRefusal(query: Queries, asked: Asked): Promise<AgentGymError | null> {
  return asked.found.member ? null : (await judge(query, asked)).refused
}

async function judge(query: Queries, { actor, found, version, publicUrl }: Asked) {
  const major = majorOf(version)
  const standing = await standingOf(query, actor, { packageId: found.id, major })
  const access = tarballAccess(false, standing)
  const wanted = { name: found.name, version, major, publicUrl, actor }
  return { standing, refused: access === 'granted' ? null : refusal(access, wanted, standing) }
}

export function refusal(
  access: Exclude<Access, 'granted'>,
  wanted: Wanted,
  { price, takenDown }: Standing,
): AgentGymError {
  if (access === 'payment_required') return paymentRequired(wanted, price)
  if (access === 'hosted_only') return hostedOnly(wanted)
  assert(takenDown !== null)
  return packageTakenDown(wanted.name, takenDown)
}

export function majorOf(version: string): number {
  return semver.major(version, { loose: true })
}
