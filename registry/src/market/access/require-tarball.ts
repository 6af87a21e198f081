import assert from 'node:assert'
import semver from 'semver'
import type { Actor } from '../../auth/actor.ts'
import type { Queries } from '../../database/database.ts'
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
  /** False for who only asks about it. */
  use: boolean
}

/**
 * The one question before a tarball goes out. Notes the first use of a licence before a byte has left, so that nobody has
 * both the files and their money back unasked.
 *
 * Throws `payment_required`, `hosted_only`, `package_taken_down`.
 */
export async function requireTarball(query: Queries, { actor, found, version, publicUrl, use }: Asked): Promise<void> {
  if (found.member) return
  const major = majorOf(version)
  const standing = await requireStanding()
  const { licence } = standing
  if (!use || licence === null || licence.used) return
  // Unused and now not to be used: it was refunded meanwhile, or another download came first.
  if (!(await useLicence(query, licence.orderId))) await requireStanding()

  async function requireStanding(): Promise<Standing> {
    const now = await standingOf(query, actor, { packageId: found.id, major })
    const access = tarballAccess(found.member, now)
    if (access === 'granted') return now
    const wanted = { name: found.name, version, major, publicUrl, actor }
    throw refusal(access, wanted, now)
  }
}

export function refusal(access: Exclude<Access, 'granted'>, wanted: Wanted, { price, takenDown }: Standing): Error {
  if (access === 'payment_required') return paymentRequired(wanted, price)
  if (access === 'hosted_only') return hostedOnly(wanted)
  assert(takenDown !== null)
  return packageTakenDown(wanted.name, takenDown)
}

export function majorOf(version: string): number {
  return semver.major(version, { loose: true })
}
