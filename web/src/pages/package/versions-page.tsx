import type { VersionList } from '@agentgym/contract'
import { Badge } from '../../components/badge.tsx'
import { Count } from '../../components/count.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { packageAddress } from '../../components/package-address.ts'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { shownBytes } from './shown-bytes.ts'

type Version = VersionList['versions'][number]

/** All versions that the visitor may see, the newest first, with what their publisher says of them. */
export function VersionsTab({ list: { name, tags, versions } }: { list: VersionList }) {
  if (versions.length === 0)
    return <EmptyState title="No version to show">Versions stand here once they are published.</EmptyState>
  const tagsOf = (version: string) => Object.entries(tags).filter(([, tagged]) => tagged === version)
  const columns: Column<Version>[] = [
    {
      title: 'Version',
      heading: true,
      cell: ({ version }) => (
        <a class="mono" href={`${packageAddress(name)}/v/${encodeURIComponent(version)}`}>
          {version}
        </a>
      ),
    },
    {
      title: 'State',
      cell: (version) => (
        <span class="package-marks">
          {tagsOf(version.version).map(([tag]) => (
            <Badge tone={tag === 'latest' ? 'good' : 'plain'}>{tag}</Badge>
          ))}
          <VersionMarks version={version} />
          {version.deprecated !== null && <span class="package-finding">{version.deprecated}</span>}
        </span>
      ),
    },
    { title: 'Uploaded', cell: ({ published_at, created_at }) => <Time at={published_at ?? created_at} /> },
    { title: 'Downloads', numeric: true, wide: true, cell: ({ downloads }) => <Count value={downloads} /> },
    { title: 'Files', numeric: true, wide: true, cell: ({ file_count }) => file_count },
    { title: 'Size', numeric: true, wide: true, cell: ({ size }) => shownBytes(size) },
  ]
  return (
    <section class="package-section" aria-labelledby="versions">
      <h2 id="versions">Versions</h2>
      <Table rows={versions} columns={columns} caption={`Versions of ${name}`} />
    </section>
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
