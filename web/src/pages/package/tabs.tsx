import type { ChangeList, Dependents, Leaderboard, VersionDetails, VersionList } from '@agentgym/contract'
import { formatMetric } from '@agentgym/contract/metrics'
import { route } from '../../app/route.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/controls.tsx'
import { Icon } from '../../components/icon.tsx'
import { EmptyState, Notice } from '../../components/messages.tsx'
import { Outcome } from '../../components/outcome.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Count, Time } from '../../components/values.tsx'
import { formatBytes, formatCount } from '../../format.ts'
import { compareAddress } from './files.tsx'
import { isHidden, nothing, tabPage } from './package-frame.tsx'
import { Changes } from './prose.tsx'
import { dependenciesOf, packagePath, readPackage, readVersion } from './read-package.ts'

export const packageTabRoutes = [
  route('get', '/packages/:scope/:name/agents', { access: 'public' }, async (visit) => {
    const view = await readPackage(visit)
    const { page } = view
    if (page.kind === 'agent') return visit.redirect(packageAddress(page.name))
    if (page.latest === null) return tabPage(visit, view, '/agents', nothing(view))
    const cursor = visit.query.get('cursor') ?? undefined
    const { data: board } = await visit.api.GET('/v1/packages/{scope}/{name}/versions/{version}/leaderboard', {
      params: { path: { ...packagePath(visit), version: page.latest.version }, query: { limit: 25, cursor } },
    })
    const empty = { scenario: { name: page.name, version: page.latest.version }, entries: [], next: null }
    const body = <AgentsTab board={board ?? empty} name={page.name} first={cursor === undefined} />
    return tabPage(visit, view, '/agents', body)
  }),

  route('get', '/packages/:scope/:name/versions', { access: 'public' }, async (visit) => {
    const view = await readPackage(visit)
    if (isHidden(view)) return tabPage(visit, view, '/versions', nothing(view))
    const params = { path: packagePath(visit) }
    const { data: list } = await visit.api.GET('/v1/packages/{scope}/{name}/versions', { params })
    const part = versionsAfter(list ?? { name: view.page.name, tags: {}, versions: [] }, visit.query.get('before'))
    const { data: releaseNotes } = await visit.api.GET('/v1/packages/{scope}/{name}/changes', {
      params: { ...params, query: { before: part.before, limit: part.list.versions.length || 1 } },
    })
    return tabPage(visit, view, '/versions', <VersionsTab part={part} changes={releaseNotes?.changes ?? []} />)
  }),

  route('get', '/packages/:scope/:name/dependencies', { access: 'public' }, async (visit) => {
    const view = await readPackage(visit)
    if (view.page.latest === null) return tabPage(visit, view, '/dependencies', nothing(view))
    const params = { path: packagePath(visit) }
    const [{ details }, { data }] = await Promise.all([
      readVersion(visit, view.page.latest.version),
      visit.api.GET('/v1/packages/{scope}/{name}/dependents', { params }),
    ])
    return tabPage(visit, view, '/dependencies', <DependenciesTab details={details} dependents={data} />)
  }),
]

type Entry = Leaderboard['entries'][number]

/** Shown once the form's disclosure is open. */
const tickColumn: Column<Entry> = {
  title: 'Compare',
  cell: ({ agent }) => <input type="checkbox" name="agents" value={agent.name} aria-label={`Compare ${agent.name}`} />,
}

const agentColumns: Column<Entry>[] = [
  { title: 'Rank', numeric: true, cell: ({ rank }) => rank },
  {
    title: 'Agent',
    heading: true,
    cell: ({ agent }) => (
      <a class="mono" href={packageAddress(agent.name)}>
        {agent.name}
        <span class="dim">@{agent.version}</span>
      </a>
    ),
  },
  { title: 'Algorithm', wide: true, cell: ({ agent }) => agent.algorithm.toUpperCase() },
  {
    title: 'Return',
    numeric: true,
    cell: ({ return_mean, confidence }) => (
      <>
        {formatMetric(return_mean)}
        {confidence != null && (
          <span class="dim nowrap wide-only">
            {' '}
            {formatMetric(confidence.low)} to {formatMetric(confidence.high)}
          </span>
        )}
      </>
    ),
  },
  {
    title: 'Outcome',
    cell: ({ outcome, return_mean }) => <Outcome success={outcome} returnMean={return_mean} form="short" />,
  },
  {
    title: 'Length',
    numeric: true,
    wide: true,
    cell: ({ length_mean }) => formatMetric(length_mean),
  },
  { title: 'Trained', numeric: true, wide: true, cell: ({ steps }) => steps.toLocaleString('en') },
  { title: 'Attempts', numeric: true, wide: true, cell: ({ attempts }) => attempts ?? '–' },
  { title: 'Verified', wide: true, cell: ({ verified_at }) => <Time at={verified_at} /> },
]

/** Leaderboard of a scenario's version. */
function AgentsTab({ board, name, first }: { board: Leaderboard; name: string; first: boolean }) {
  const { scenario, entries, next } = board
  const address = `${packageAddress(name)}/agents`
  return (
    <section class="package-section" aria-labelledby="leaderboard">
      <h2 id="leaderboard">Verified agents</h2>
      <p class="dim">
        On version <span class="mono">{scenario.version}</span>, ranked by mean return over held-out episodes, with its
        95% confidence interval. The score of an agent changes only when a new version differs beyond noise. Attempts
        are all versions that the publisher has tried on this scenario. Training is in environment steps.
      </p>
      {scenario.nondeterministic && (
        <Notice kind="warning">
          This version is nondeterministic: it gives different results to the same actions. Agents are not judged by it.
        </Notice>
      )}
      {entries.length === 0 ? (
        <EmptyState
          title={first ? 'No verified agents yet' : 'No more agents'}
          command={
            first
              ? `agentgym train ${name} --out my-agent && agentgym agent publish my-agent --summary 'What it does.'`
              : undefined
          }
        >
          Agents appear here once this server has reproduced their published results.
        </EmptyState>
      ) : (
        <form method="get" action={`${address}/compare`} class="agents">
          {entries.length > 1 && (
            <details class="agents-compare">
              <summary class="button button-quiet button-small">Compare agents</summary>
              <span class="dim">Select two to four.</span> <Button size="small">Compare selected</Button>
            </details>
          )}
          <Table
            rows={entries}
            columns={entries.length > 1 ? [tickColumn, ...agentColumns] : agentColumns}
            caption={`Verified agents of ${scenario.name}@${scenario.version}`}
          />
        </form>
      )}
      {first && board.people != null && <People people={board.people} name={name} />}
      <nav class="pager" aria-label="Pages">
        {!first && <Button href={address}>First page</Button>}
        {next !== null && (
          <Button href={`${address}?cursor=${encodeURIComponent(next)}`}>
            Next page <Icon name="chevron-right" />
          </Button>
        )}
      </nav>
    </section>
  )
}

/** A baseline, not ranked. */
function People({ people, name }: { people: NonNullable<Leaderboard['people']>; name: string }) {
  return (
    <p class="board-people">
      People: <strong class="mono">{formatMetric(people.return_mean)}</strong>{' '}
      <span class="dim">
        mean return of {formatCount(people.people, 'person', 'people')} over {formatCount(people.episodes, 'episode')},
        each person counted once
      </span>{' '}
      <a href={`${packageAddress(name)}/play`}>Play it yourself</a>
    </p>
  )
}

type Version = VersionList['versions'][number]

/** Number of versions with release notes that fit on a page of 100 kB. */
const versionsOnPage = 20

type VersionsPart = {
  list: VersionList
  /** The version after which the page starts. */
  before: string | undefined
  /** The last one on this page, if there are older ones. */
  next: string | null
}

/** The versions on a page, after the one in its URL; from the first if that version does not exist. */
function versionsAfter(list: VersionList, before: string | null): VersionsPart {
  const at = list.versions.findIndex(({ version }) => version === before) + 1
  const versions = list.versions.slice(at, at + versionsOnPage)
  const next = list.versions.length > at + versionsOnPage ? (versions.at(-1)?.version ?? null) : null
  return { list: { ...list, versions }, before: list.versions[at - 1]?.version, next }
}

/** Versions, newest first, with release notes and check results. */
function VersionsTab({ part: { list, next }, changes }: { part: VersionsPart; changes: ChangeList['changes'] }) {
  const { name, tags, versions } = list
  if (versions.length === 0) return <EmptyState title="No versions yet">Published versions appear here.</EmptyState>
  const releaseNotes = new Map(changes.map(({ version, html }) => [version, html]))
  const tagsOf = (version: string) => Object.entries(tags).filter(([, tagged]) => tagged === version)
  return (
    <section class="package-section" aria-labelledby="versions">
      <h2 id="versions">Versions</h2>
      <ol class="versions">
        {versions.map((version, index) => (
          <VersionEntry
            name={name}
            version={version}
            previous={versions[index + 1]?.version}
            tags={tagsOf(version.version)}
            html={releaseNotes.get(version.version)}
          />
        ))}
      </ol>
      {next !== null && (
        <p class="older">
          <a href={`${packageAddress(name)}/versions?before=${encodeURIComponent(next)}`} rel="next">
            Older versions
          </a>
        </p>
      )}
      <p>
        <a href={`${packageAddress(name)}/feed.atom`}>Atom feed</a>
      </p>
    </section>
  )
}

type VersionEntryProps = {
  name: string
  version: Version
  /** The one before it on this page. */
  previous?: string
  tags: [tag: string, version: string][]
  html?: string
}

function VersionEntry({ name, version, previous, tags, html }: VersionEntryProps) {
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
          {formatBytes(version.size)} in {version.file_count} files
        </span>
        {previous !== undefined && (
          <a href={compareAddress({ name, version: version.version }, previous)}>Changes from {previous}</a>
        )}
      </p>
      {version.deprecated !== null && <p class="package-finding">{version.deprecated}</p>}
      {html === undefined ? (
        <p class="version-untold">No release notes</p>
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

type Dependency = { name: string; range: string; what: string }

const dependencyColumns: Column<Dependency>[] = [
  { title: 'Package', heading: true, cell: ({ name }) => <PackageName name={name} /> },
  { title: 'Range', cell: ({ range }) => <code>{range}</code> },
  { title: 'Relation', cell: ({ what }) => what },
]

/** Dependencies and dependents of a version. */
function DependenciesTab({ details, dependents }: { details: VersionDetails; dependents: Dependents }) {
  const { name, agent } = details
  const rows: Dependency[] = [
    // An environment of the publisher's is no package.
    ...(agent === null || agent.scenario.environment !== undefined
      ? []
      : [{ name: agent.scenario.name, range: agent.scenario.version, what: 'trained on' }]),
    ...dependenciesOf(details).map(([dependency, range]) => ({ name: dependency, range, what: 'dependency' })),
  ]
  return (
    <>
      <section class="package-section" aria-labelledby="needs">
        <h2 id="needs">Dependencies</h2>
        {rows.length === 0 ? (
          <p class="dim">None. Version {details.version} is self-contained.</p>
        ) : (
          <Table rows={rows} columns={dependencyColumns} caption={`Dependencies of ${name}`} />
        )}
      </section>
      <Needed dependents={dependents} />
    </>
  )
}

function Needed({ dependents: { name, agents, packages } }: { dependents: Dependents }) {
  const rows: Dependency[] = [
    ...agents.map((one) => ({
      name: one.name,
      range: one.scenario_version,
      what: `agent ${one.version} trained on it`,
    })),
    ...packages.map((one) => ({ name: one.name, range: one.range, what: `dependency of ${one.version}` })),
  ]
  return (
    <section class="package-section" aria-labelledby="needed">
      <h2 id="needed">Dependents</h2>
      {rows.length === 0 ? (
        <EmptyState title="No dependents yet">
          Verified agents trained on this package, and packages that depend on it, appear here.
        </EmptyState>
      ) : (
        <Table rows={rows} columns={dependencyColumns} caption={`Dependents of ${name}`} />
      )}
    </section>
  )
}

/** Scoped names link to this server, whose page reports missing packages. */
function PackageName({ name }: { name: string }) {
  if (!/^@[^/]+\/[^/]+$/.test(name)) return <code>{name}</code>
  return (
    <a class="mono" href={packageAddress(name)}>
      {name}
    </a>
  )
}
