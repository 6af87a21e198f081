import semver from 'semver'

/** What the choice of a version depends on. Only published versions take part. */
export type Candidate = { version: string; deprecated: string | null; yanked: boolean }

export type Tags = ReadonlyMap<string, string>

/** As npm reads what people type. */
const loose = { loose: true }

/**
 * The version that an exact version, a tag or a range means, as npm and pnpm choose it: an exact one whatever became of
 * it; of a range the one that `latest` names where it fits and is not deprecated, else the highest that is not deprecated,
 * else the highest. A range never gives a yanked version. Undefined where nothing fits.
 */
export function selectVersion(candidates: readonly Candidate[], tags: Tags, wanted: string): Candidate | undefined {
  const text = wanted.trim()
  const exact = semver.clean(text, loose)
  if (exact !== null) return candidates.find(({ version }) => version === exact)
  const range = semver.validRange(text, loose)
  if (range === null) return byVersion(candidates, tags.get(text))
  const open = candidates.filter(({ yanked }) => !yanked)
  const latest = byVersion(open, tags.get('latest'))
  // `*` is npm's word for latest, also where that is a prerelease because somebody said so.
  if (latest !== undefined && latest.deprecated === null && (text === '' || text === '*' || fits(latest, range)))
    return latest
  const [best] = open
    .filter((candidate) => fits(candidate, range))
    .sort(
      (a, b) => Number(a.deprecated !== null) - Number(b.deprecated !== null) || semver.rcompare(a.version, b.version),
    )
  return best
}

function fits({ version }: Candidate, range: string): boolean {
  return semver.satisfies(version, range, loose)
}

function byVersion(candidates: readonly Candidate[], version: string | undefined): Candidate | undefined {
  return candidates.find((candidate) => candidate.version === version)
}
