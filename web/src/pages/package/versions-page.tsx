import type { ChangeList, VersionList } from '@agentgym/contract'
import { Badge } from '../../components/badge.tsx'
import { Count } from '../../components/count.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { packageAddress } from '../../components/package-address.ts'
import { Time } from '../../components/time.tsx'
import { Changes } from './prose.tsx'
import { shownBytes } from './shown-bytes.ts'

type Version = VersionList['versions'][number]

/** As many as a page below 100 kB has room for, with what they say has changed. */
const versionsOnPage = 20

type VersionsPart = {
  list: VersionList
  /** The version that the page begins after. */
  before: string | undefined
  /** The last one here, where there are older ones. */
  next: string | null
}

/** The versions that a page shows, after the one that its address names; all of them begin anew where there is no such version. */
export function versionsAfter(list: VersionList, before: string | null): VersionsPart {
  const at = list.versions.findIndex(({ version }) => version === before) + 1
  const versions = list.versions.slice(at, at + versionsOnPage)
  const next = list.versions.length > at + versionsOnPage ? (versions.at(-1)?.version ?? null) : null
  return { list: { ...list, versions }, before: list.versions[at - 1]?.version, next }
}

/** The newest first: when each came, what its publisher says of it and has changed, what its checks found. */
export function VersionsTab({ part: { list, next }, changes }: { part: VersionsPart; changes: ChangeList['changes'] }) {
  const { name, tags, versions } = list
  if (versions.length === 0)
    return <EmptyState title="No version to show">Versions stand here once they are published.</EmptyState>
  const told = new Map(changes.map(({ version, html }) => [version, html]))
  const tagsOf = (version: string) => Object.entries(tags).filter(([, tagged]) => tagged === version)
  return (
    <section class="package-section" aria-labelledby="versions">
      <h2 id="versions">Versions</h2>
      <ol class="versions">
        {versions.map((version) => (
          <VersionEntry name={name} version={version} tags={tagsOf(version.version)} html={told.get(version.version)} />
        ))}
      </ol>
      {next !== null && (
        <p class="older">
          <a href={`${packageAddress(name)}/versions?before=${encodeURIComponent(next)}`} rel="next">
            Older ones
          </a>
        </p>
      )}
    </section>
  )
}

type VersionEntryProps = { name: string; version: Version; tags: [tag: string, version: string][]; html?: string }

function VersionEntry({ name, version, tags, html }: VersionEntryProps) {
  const address = `${packageAddress(name)}/v/${encodeURIComponent(version.version)}`
  return (
    <li class="version">
      <div class="version-head">
        <h3>
          <a class="mono" href={address}>
            {version.version}
          </a>
        </h3>
        <span class="package-marks">
          {tags.map(([tag]) => (
            <Badge tone={tag === 'latest' ? 'good' : 'plain'}>{tag}</Badge>
          ))}
          <VersionMarks version={version} />
        </span>
      </div>
      <p class="version-facts">
        <Time at={version.published_at ?? version.created_at} />
        {version.checks_count > 0 && (
          <span>
            {version.checks_passed} of {version.checks_count} checks passed
          </span>
        )}
        <span>
          <Count value={version.downloads} /> downloads
        </span>
        <span>
          {shownBytes(version.size)} in {version.file_count} files
        </span>
      </p>
      {version.deprecated !== null && <p class="package-finding">{version.deprecated}</p>}
      {html === undefined ? (
        <p class="version-untold">Its changelog does not say what has changed.</p>
      ) : (
        <Changes html={html} below={3} all={`${address}#changes`} />
      )}
    </li>
  )
}

/** Yanked, deprecated, being checked, rejected. */
function VersionMarks({ version }: { version: Pick<Version, 'state' | 'yanked' | 'deprecated'> }) {
  return (
    <>
      {version.state === 'checking' && <Badge tone="warning">being checked</Badge>}
      {version.state === 'rejected' && <Badge tone="bad">rejected</Badge>}
      {version.yanked && <Badge tone="bad">yanked</Badge>}
      {version.deprecated !== null && <Badge tone="warning">deprecated</Badge>}
    </>
  )
}
