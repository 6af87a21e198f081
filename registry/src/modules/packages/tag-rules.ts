import { AgentGymError } from '@agentgym/contract'
import semver from 'semver'
import type { Candidate, Tags } from './select-version.ts'

/** A published version, as the rules for tags see it. `createdAt`: when it was uploaded. */
export type TaggedVersion = Pick<Candidate, 'version' | 'yanked'> & { createdAt: Date }

const tagPattern = /^[a-z][a-z0-9]*(?:[._-][a-z0-9]+)*$/

/** A tag that nobody can take for a version or a range. Throws `tag_invalid`. */
export function parseTag(text: string): string {
  if (!isTag(text))
    throw new AgentGymError({
      code: 'tag_invalid',
      message: `${JSON.stringify(text.slice(0, 80))} cannot be a tag.`,
      hint: 'Lower-case letters, digits and hyphens, starting with a letter, and no version: next, beta.',
      data: { field: 'tag' },
    })
  return text
}

/** npm takes for a tag what is neither version nor range, and reads both loosely. */
function isTag(text: string): boolean {
  const loose = { loose: true }
  return (
    text.length <= 64 && tagPattern.test(text) && !semver.valid(text, loose) && semver.validRange(text, loose) === null
  )
}

/**
 * The tag that a version gets by being published; null where it gets none.
 *
 * Asked for by name (`intended`): that tag, unless a version uploaded later already has it, for checks may end in another
 * order. By itself: `latest` for a stable version above the one that has it; a prerelease gets the tag of its own kind
 * (`1.0.0-rc.1`: rc) or `next`; a stable version below `latest` gets `backport-1` of its major. None of these moves
 * backwards, and `latest` never goes to a prerelease by itself.
 */
export function tagOnPublish(
  published: TaggedVersion,
  intended: string | null,
  tags: Tags,
  versions: readonly TaggedVersion[],
): string | null {
  if (intended !== null) {
    const holder = versions.find(({ version }) => version === tags.get(intended))
    return holder !== undefined && holder.createdAt > published.createdAt ? null : intended
  }
  const { version } = published
  if (isPrerelease(version)) return forwardOnly(prereleaseTag(version), version, tags)
  return forwardOnly('latest', version, tags) ?? forwardOnly(`backport-${semver.major(version)}`, version, tags)
}

/** What `latest` becomes when the version that has it is yanked: the highest stable one left; null where there is none. */
export function latestAfterYank(versions: readonly TaggedVersion[]): string | null {
  const [highest] = versions
    .filter(({ version, yanked }) => !yanked && !isPrerelease(version))
    .map(({ version }) => version)
    .sort(semver.rcompare)
  return highest ?? null
}

export function isPrerelease(version: string): boolean {
  return semver.prerelease(version) !== null
}

function prereleaseTag(version: string): string {
  const [kind] = semver.prerelease(version) ?? []
  return typeof kind === 'string' && isTag(kind) && kind !== 'latest' && !kind.startsWith('backport-') ? kind : 'next'
}

function forwardOnly(tag: string, version: string, tags: Tags): string | null {
  const now = tags.get(tag)
  return now === undefined || semver.gt(version, now) ? tag : null
}
