import type { AgentCard, PolicySpec, SampleEpisode, SuccessCriteria, VersionDetails } from '@agentgym/contract'
import { formatValue } from '@agentgym/contract/charts'
import { route } from '../../app/route.ts'
import type { Html } from '../../app/visit.ts'
import { Badge } from '../../components/badge.tsx'
import { Command } from '../../components/controls.tsx'
import { Notice } from '../../components/messages.tsx'
import { Figure, Figures } from '../../components/metrics.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import { learningCurve } from '../../pictures/learning-curve.ts'
import { Picture } from '../../pictures/picture.tsx'
import { Replay } from '../../pictures/replay.tsx'
import { EvaluationSection } from './evaluation.tsx'
import { Fact, nothing, PackageFrame, tabPage } from './package-frame.tsx'
import { Changes, Prose } from './prose.tsx'
import {
  type PackageView,
  readFirstPage,
  readPackage,
  readVersion,
  successOf,
  type VersionView,
} from './read-package.ts'
import { shownBytes } from './shown-bytes.ts'
import { Snippets } from './snippets.tsx'

export const packageRoutes = [
  route('get', '/packages/:scope/:name', { access: 'public' }, async (visit) => {
    const { view, shown } = await readFirstPage(visit)
    return tabPage(visit, view, '', shown === null ? nothing(view) : latestOf(view, shown))
  }),

  route('get', '/packages/:scope/:name/readme', { access: 'public' }, ({ params, redirect }) =>
    redirect(packageAddress(`${params.scope}/${params.name}`)),
  ),

  route('get', '/packages/:scope/:name/v/:version', { access: 'public' }, async (visit) => {
    const view = await readPackage(visit)
    const shown = await readVersion(visit, visit.params.version)
    const { version } = shown.details
    return visit.page(
      <PackageFrame view={view} tab={null} version={version}>
        <VersionPage view={view} shown={shown} />
      </PackageFrame>,
      { title: `${view.page.name}@${version}`, description: view.page.summary ?? undefined },
    )
  }),

  route('get', '/packages/:scope/:name/v/:version/readme', { access: 'public' }, async (visit) => {
    const view = await readPackage(visit)
    const shown = await readVersion(visit, visit.params.version)
    const { version } = shown.details
    return visit.page(
      <PackageFrame view={view} tab={null} version={version}>
        <ReadmePage shown={shown} title={view.page.title ?? view.page.name} />
      </PackageFrame>,
      { title: `README of ${view.page.name}@${version}` },
    )
  }),
]

function latestOf({ page }: PackageView, shown: VersionView): Html {
  const title = page.title ?? page.name
  return page.kind === 'agent' ? (
    <AgentVersion shown={shown} title={title} />
  ) : (
    <ScenarioVersion shown={shown} title={title} />
  )
}

/** What the first tab shows of `latest`, of one version by its number; with what was published, byte by byte. */
function VersionPage({ view: { page }, shown }: { view: PackageView; shown: VersionView }) {
  const { details } = shown
  const title = page.title ?? page.name
  return (
    <>
      <VersionStanding details={details} latest={page.latest_version} />
      {details.changes !== null && (
        <section class="package-section" aria-labelledby="changes">
          <h2 id="changes">What changed</h2>
          <Changes html={details.changes.html} below={2} />
        </section>
      )}
      {page.kind === 'agent' ? (
        <AgentVersion shown={shown} title={title} />
      ) : (
        <ScenarioVersion shown={shown} title={title} />
      )}
      <Published details={details} />
    </>
  )
}

/** Whether one should use this version at all. */
function VersionStanding({ details, latest }: { details: VersionDetails; latest: string | null }) {
  const { name, version, state, yanked, deprecated } = details
  return (
    <>
      {state === 'checking' && (
        <Notice kind="warning">Version {version} is being checked. Only members of its account see it.</Notice>
      )}
      {state === 'rejected' && (
        <Notice kind="failure">
          Version {version} was rejected: its checks say why. Mend it and publish the next one; this number is taken.
        </Notice>
      )}
      {yanked && (
        <Notice kind="failure">
          Version {version} is yanked: its publisher advises against it. Whoever has it in a lockfile still gets it.
        </Notice>
      )}
      {deprecated !== null && (
        <Notice kind="warning">
          Version {version} is deprecated: {deprecated}
        </Notice>
      )}
      {latest !== null && latest !== version && state === 'published' && (
        <Notice kind="info">
          This is version {version}. <a href={packageAddress(name)}>The latest is {latest}.</a>
        </Notice>
      )}
    </>
  )
}

function Published({ details }: { details: VersionDetails }) {
  const { published_at, integrity, bundle_hash, size, unpacked_size, file_count, tags } = details
  return (
    <section class="package-section" aria-labelledby="published">
      <h2 id="published">What was published</h2>
      <dl class="package-facts">
        {published_at !== null && (
          <Fact label="Published">
            <Time at={published_at} />
          </Fact>
        )}
        {tags.length > 0 && <Fact label="Tags">{tags.join(', ')}</Fact>}
        <Fact label="Size">
          {shownBytes(size)}, {shownBytes(unpacked_size)} in {file_count} files
        </Fact>
        <Fact label="Integrity">
          <code>{integrity}</code>
        </Fact>
        {bundle_hash !== null && (
          <Fact label="Bundle, SHA-256">
            <code>{bundle_hash}</code>
          </Fact>
        )}
      </dl>
      <p class="package-label">Install exactly this</p>
      <Command text={`agentgym install ${details.name}@${details.version}`} />
    </section>
  )
}

/** A version of a scenario: an episode of it, its README, and what was measured of it. */
function ScenarioVersion({ shown, title }: { shown: VersionView; title: string }) {
  const { details, readmeHtml, episode } = shown
  return (
    <>
      {episode !== null && (
        <section class="package-section" aria-labelledby="episode">
          <h2 id="episode">A sample episode</h2>
          <Replay episode={episode} name={details.name} version={details.version} />
        </section>
      )}
      {readmeHtml.trim() !== '' && <Prose html={readmeHtml} title={title} all={readmeAddress(details)} />}
      <Success criteria={successOf(details)} />
      {episode !== null && (
        <section class="package-section" aria-labelledby="spaces">
          <h2 id="spaces">Observation and action</h2>
          <SpacesTable rows={spacesOfEpisode(episode)} caption="Observation and action space" />
        </section>
      )}
      <Checks checks={details.checks} />
    </>
  )
}

const criterionColumns: Column<[string, number]>[] = [
  { title: 'Metric', heading: true, cell: ([metric]) => <code>{metric}</code> },
  { title: 'At least', numeric: true, cell: ([, target]) => formatValue(target) },
]

function Success({ criteria }: { criteria: SuccessCriteria }) {
  const rows = Object.entries(criteria)
  return (
    <section class="package-section" aria-labelledby="success">
      <h2 id="success">Success</h2>
      {rows.length === 0 ? (
        <p class="dim">This version does not say what counts as success.</p>
      ) : (
        <>
          <p class="dim">Means over held-out episodes, all of them at once.</p>
          <div class="package-narrow">
            <Table rows={rows} columns={criterionColumns} caption="What counts as success" />
          </div>
        </>
      )}
    </section>
  )
}

/** A version of an agent: what it came to, how it learned, how to use it, its model card. */
function AgentVersion({ shown, title }: { shown: VersionView; title: string }) {
  const { details, readmeHtml, episode } = shown
  const { agent, learning_curve: curve } = details
  return (
    <>
      {agent !== null && <Training agent={agent} />}
      <EvaluationSection details={details} />
      {curve !== null && curve.length > 1 && (
        <section class="package-section" aria-labelledby="curve">
          <h2 id="curve">How it learned</h2>
          <figure class="package-curve">
            <Picture
              picture={learningCurve(curve, {
                title: `Learning curve of ${details.name}`,
                target: agent?.evaluation.success.criteria.find(({ metric }) => metric === 'return_mean')?.target,
              })}
            />
            <figcaption class="dim">
              Mean return of the last 100 episodes, as a run of this server recorded it.
            </figcaption>
          </figure>
        </section>
      )}
      {episode !== null && (
        <section class="package-section" aria-labelledby="episode">
          <h2 id="episode">An episode of its evaluation</h2>
          <Replay episode={episode} name={details.name} version={details.version} />
        </section>
      )}
      {agent !== null && <Snippets name={details.name} version={details.version} agent={agent} />}
      {readmeHtml.trim() !== '' && (
        <section class="package-section" aria-labelledby="card">
          <h2 id="card">Model card</h2>
          <Prose html={readmeHtml} title={title} below={2} all={readmeAddress(details)} />
        </section>
      )}
      {agent !== null && (
        <section class="package-section" aria-labelledby="spaces">
          <h2 id="spaces">Observation and action</h2>
          <SpacesTable rows={spacesOfPolicy(agent.policy)} caption="Observation and action of the model" />
        </section>
      )}
      <Checks checks={details.checks} />
    </>
  )
}

function Training({ agent: { scenario, algorithm, steps, policy } }: { agent: AgentCard }) {
  return (
    <section class="package-section" aria-label="Training">
      <p>
        Trained on{' '}
        <a class="mono" href={`${packageAddress(scenario.name)}/v/${encodeURIComponent(scenario.version)}`}>
          {scenario.name}@{scenario.version}
        </a>
      </p>
      <Figures>
        <Figure label="Algorithm">{algorithm.toUpperCase()}</Figure>
        <Figure label="Trained" note="environment steps">
          {steps.toLocaleString('en')}
        </Figure>
        <Figure label="Network" note={`${policy.activation}, actor and critic alike`}>
          {policy.hidden.length === 0 ? 'linear' : policy.hidden.join(' × ')}
        </Figure>
      </Figures>
    </section>
  )
}

/** Of the page that shows all of a version's README. */
function readmeAddress({ name, version }: { name: string; version: string }): string {
  return `${packageAddress(name)}/v/${encodeURIComponent(version)}/readme`
}

/** A version's README, however long, and nothing else of it. */
function ReadmePage({ shown: { details, readmeHtml }, title }: { shown: VersionView; title: string }) {
  const { name, version } = details
  return (
    <>
      <p>
        <a href={`${packageAddress(name)}/v/${encodeURIComponent(version)}`}>Back to version {version}</a>
      </p>
      {readmeHtml.trim() === '' ? <p class="dim">It has no README.</p> : <Prose html={readmeHtml} title={title} />}
    </>
  )
}

/** One part of what is seen or done. */
type SpaceRow = { side: 'Observation' | 'Action'; name: string; kind: string; shape: string; values: string }

const spaceColumns: Column<SpaceRow>[] = [
  { title: 'Space', heading: true, cell: ({ side }) => side },
  { title: 'Part', cell: ({ name }) => (name === '' ? <span class="dim">all of it</span> : <code>{name}</code>) },
  { title: 'Kind', cell: ({ kind }) => kind },
  { title: 'Shape', numeric: true, cell: ({ shape }) => shape },
  { title: 'Values', wide: true, cell: ({ values }) => values },
]

/** What is observed and done, part by part. */
function SpacesTable({ rows, caption }: { rows: SpaceRow[]; caption: string }) {
  return <Table rows={rows} columns={spaceColumns} caption={caption} />
}

const kinds = { box: 'numbers', discrete: 'one choice', multiDiscrete: 'choices', text: 'text' }

/** As the sample episode of a scenario has written them down. */
function spacesOfEpisode({ observation, action }: SampleEpisode): SpaceRow[] {
  return [
    ...observation.map((leaf) => ({
      ...{ side: 'Observation' as const, name: leaf.name, kind: kinds[leaf.kind] },
      ...{ shape: leaf.kind === 'text' ? '1' : leaf.shape.join(' × '), values: '' },
    })),
    ...action.map((leaf) => ({
      ...{ side: 'Action' as const, name: leaf.name, kind: kinds[leaf.kind] },
      ...{ shape: leaf.shape.join(' × '), values: leaf.labels.join(', ') },
    })),
  ]
}

/** As an agent's policy reads and writes them. */
function spacesOfPolicy({ observation, action }: PolicySpec): SpaceRow[] {
  return [
    ...observation.map((leaf) => ({
      ...{ side: 'Observation' as const, name: leaf.name, kind: kinds[leaf.kind] },
      ...{ shape: leaf.shape.join(' × '), values: choices(leaf.counts) },
    })),
    ...action.map((leaf) => ({
      ...{ side: 'Action' as const, name: leaf.name, kind: kinds[leaf.kind] },
      ...{ shape: String(leaf.size), values: choices(leaf.counts) },
    })),
  ]
}

function choices(counts: number[]): string {
  if (counts.length === 0) return 'real numbers'
  return counts.length > 6
    ? `${counts.length} of ${Math.min(...counts)} to ${Math.max(...counts)}`
    : `of ${counts.join(', ')}`
}

type Check = VersionDetails['checks'][number]

const checkColumns: Column<Check>[] = [
  { title: 'Check', heading: true, cell: ({ id }) => <code>{id}</code> },
  { title: 'Result', cell: ({ ok }) => <Badge tone={ok ? 'good' : 'bad'}>{ok ? 'passed' : 'failed'}</Badge> },
  { title: 'What was found', cell: ({ message }) => <span class="package-finding">{message}</span> },
]

/** What the server found when it ran the version in its sandbox: speed, determinism, baselines and the rest. */
function Checks({ checks }: { checks: Check[] }) {
  if (checks.length === 0) return null
  const baselines = checks.filter(({ id }) => id === 'baselines' || id === 'speed')
  const failed = checks.filter(({ ok }) => !ok)
  return (
    <section class="package-section" aria-labelledby="checks">
      <h2 id="checks">Checked by this server</h2>
      {baselines.map(({ id, message }) => (
        <p class="package-baseline">
          <span class="package-label">{id === 'speed' ? 'Speed' : 'Baselines'}</span> {message}
        </p>
      ))}
      <details open={failed.length > 0}>
        <summary class="package-more">
          {checks.length - failed.length} of {checks.length} checks passed
        </summary>
        <Table rows={checks} columns={checkColumns} caption="Checks of this version" />
      </details>
    </section>
  )
}
