import {
  type AgentCard,
  checksFailedText,
  countChecks,
  type PolicySpec,
  type SampleEpisode,
  type SuccessCriteria,
  type VersionDetails,
} from '@agentgym/contract'
import { formatMetric, formatTarget, metricUnit } from '@agentgym/contract/metrics'
import { route } from '../../app/route.ts'
import type { Html } from '../../app/visit.ts'
import { Badge } from '../../components/badge.tsx'
import { Command } from '../../components/controls.tsx'
import { Icon } from '../../components/icon.tsx'
import { Notice } from '../../components/messages.tsx'
import { Detail, Metric, Metrics } from '../../components/metrics.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import { formatBytes } from '../../format.ts'
import { learningCurve } from '../../pictures/learning-curve.ts'
import { Picture } from '../../pictures/picture.tsx'
import { Replay, type ReplayPlayers } from '../../pictures/replay.tsx'
import { EvaluationSection } from './evaluation.tsx'
import { nothing, PackageFrame, tabPage } from './package-frame.tsx'
import { Changes, Prose } from './prose.tsx'
import {
  type PackageView,
  readFirstPage,
  readPackage,
  readVersion,
  successOf,
  type VersionView,
} from './read-package.ts'
import { SimilarScenarios } from './similar.tsx'
import { Snippets } from './snippets.tsx'

export const packageRoutes = [
  route('get', '/packages/:scope/:name', { access: 'public' }, async (visit) => {
    const { view, shown } = await readFirstPage(visit)
    if (shown === null) return tabPage(visit, view, '', nothing(view))
    return tabPage(
      visit,
      view,
      '',
      <>
        {contentOf(view, shown)}
        <SimilarScenarios similar={view.page.similar} />
      </>,
    )
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
      {
        title: `${view.page.name}@${version}`,
        description: view.page.summary ?? undefined,
        preview: { name: view.page.name, version },
      },
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

/** A version's content, by the kind of its package. */
function contentOf({ page, member }: PackageView, shown: VersionView): Html {
  const title = page.title ?? page.name
  return page.kind === 'agent' ? (
    <AgentVersion shown={shown} title={title} advice={member} />
  ) : (
    <ScenarioVersion shown={shown} title={title} advice={member} />
  )
}

/** A version by number: the content of the first tab, with release notes and published files. */
function VersionPage({ view, shown }: { view: PackageView; shown: VersionView }) {
  const { details } = shown
  return (
    <>
      <VersionNotices details={details} latest={view.page.latest_version} />
      {details.changes !== null && (
        <section class="package-section" aria-labelledby="changes">
          <h2 id="changes">Release notes</h2>
          <Changes html={details.changes.html} below={2} />
        </section>
      )}
      {contentOf(view, shown)}
      <Published details={details} />
    </>
  )
}

/** Notices about the version's state. */
function VersionNotices({ details, latest }: { details: VersionDetails; latest: string | null }) {
  const { name, version, state, yanked, deprecated } = details
  return (
    <>
      {state === 'checking' && (
        <Notice kind="warning">Version {version} is being checked and visible to members only.</Notice>
      )}
      {state === 'rejected' && (
        <Notice kind="failure">
          Version {version} was rejected. See its checks for the reason, then publish a new version; this number can't
          be reused.
        </Notice>
      )}
      {yanked && (
        <Notice kind="failure">
          Version {version} was yanked by its publisher. Lockfiles that name it still install it.
        </Notice>
      )}
      {deprecated !== null && (
        <Notice kind="warning">
          Version {version} is deprecated: {deprecated}
        </Notice>
      )}
      {latest !== null && latest !== version && state === 'published' && (
        <Notice kind="info">
          You are viewing version {version}. <a href={packageAddress(name)}>The latest is {latest}.</a>
        </Notice>
      )}
    </>
  )
}

function Published({ details }: { details: VersionDetails }) {
  const { published_at, integrity, bundle_hash, size, unpacked_size, file_count, tags } = details
  return (
    <section class="package-section" aria-labelledby="published">
      <h2 id="published">Published files</h2>
      <dl class="package-facts">
        {published_at !== null && (
          <Detail label="Published">
            <Time at={published_at} />
          </Detail>
        )}
        {tags.length > 0 && <Detail label="Tags">{tags.join(', ')}</Detail>}
        <Detail label="Size">
          {formatBytes(size)}, {formatBytes(unpacked_size)} in {file_count} files
        </Detail>
        <Detail label="Integrity">
          <code>{integrity}</code>
        </Detail>
        {bundle_hash !== null && (
          <Detail label="Bundle (SHA-256)">
            <code>{bundle_hash}</code>
          </Detail>
        )}
      </dl>
      <p class="package-label">Install this version</p>
      <Command text={`agentgym install ${details.name}@${details.version}`} />
    </section>
  )
}

type ContentProps = {
  shown: VersionView
  title: string
  /** Whether to show what its author could mend. */
  advice: boolean
}

/** A version of a scenario: sample episode, README, success criteria, spaces and checks. */
function ScenarioVersion({ shown, title, advice }: ContentProps) {
  const { details, readmeHtml, episode } = shown
  return (
    <>
      {episode !== null && (
        <section aria-label="Sample episode">
          <Replay players={playersOf(shown)} episode={episode} />
        </section>
      )}
      {readmeHtml.trim() !== '' && <Prose html={readmeHtml} title={title} all={readmeAddress(details)} />}
      <Success criteria={successOf(details)} />
      <Levels checks={details.checks} />
      {episode !== null && (
        <section class="package-section" aria-labelledby="spaces">
          <h2 id="spaces">Observation and action spaces</h2>
          <SpacesTable rows={spacesOfEpisode(episode)} caption="Observation and action space" />
        </section>
      )}
      <Checks checks={details.checks} advice={advice} />
    </>
  )
}

/** The random policy of the scenario's check, and its best agent. */
function playersOf({ details: { name, version }, bestAgent }: VersionView): ReplayPlayers {
  const random = { label: 'Random', name, version }
  if (!bestAgent?.recorded) return [random]
  return [random, { label: 'Best agent', name: bestAgent.agent, version: bestAgent.version }]
}

const criterionColumns: Column<[string, number]>[] = [
  { title: 'Metric', heading: true, cell: ([metric]) => <code>{metric}</code> },
  { title: 'At least', numeric: true, cell: ([metric, target]) => formatTarget(target, metricUnit(metric, target)) },
]

function Success({ criteria }: { criteria: SuccessCriteria }) {
  const rows = Object.entries(criteria)
  return (
    <section class="package-section" aria-labelledby="success">
      <h2 id="success">Success</h2>
      {rows.length === 0 ? (
        <p class="dim">No success criteria defined.</p>
      ) : (
        <>
          <p class="dim">All targets must be met on held-out episodes.</p>
          <div class="package-narrow">
            <Table rows={rows} columns={criterionColumns} caption="Success criteria" />
          </div>
        </>
      )}
    </section>
  )
}

type CheckedLevel = NonNullable<Check['levels']>[number]
const levelReturnOf = (value: number | null) => formatMetric(value)
const levelColumns: Column<CheckedLevel>[] = [
  { title: 'Level', heading: true, cell: ({ name }) => name },
  { title: 'Description', wide: true, cell: ({ description }) => description ?? '' },
  { title: 'Random actions', numeric: true, cell: ({ random }) => levelReturnOf(random) },
  { title: 'Oracle', numeric: true, cell: ({ oracle }) => levelReturnOf(oracle) },
]

/** A row a level, with the mean returns that the check measured. Nothing for a scenario without levels. */
function Levels({ checks }: { checks: Check[] }) {
  const levels = checks.find(({ id, ok }) => id === 'levels' && ok)?.levels
  if (levels === undefined) return null
  return (
    <section class="package-section" aria-labelledby="levels">
      <h2 id="levels">Levels</h2>
      <p class="dim">
        Training draws a level for each episode. Evaluation plays all of them equally often. Mean returns:
      </p>
      <Table rows={levels} columns={levelColumns} caption="Levels and mean returns" />
    </section>
  )
}

/** A version of an agent: results first, then usage and model card; how it was made is folded. */
function AgentVersion({ shown, title, advice }: ContentProps) {
  const { details, readmeHtml, episode } = shown
  const { agent, learning_curve: curve } = details
  return (
    <>
      {agent !== null && <TrainedOn agent={agent} />}
      <EvaluationSection details={details} />
      {curve !== null && curve.length > 1 && (
        <section class="package-section" aria-labelledby="curve">
          <h2 id="curve">Learning curve</h2>
          <figure class="package-curve">
            <Picture
              picture={learningCurve(curve, {
                title: `Learning curve of ${details.name}`,
                target: agent?.evaluation.success.criteria.find(({ metric }) => metric === 'return_mean')?.target,
              })}
            />
            <figcaption class="dim">
              Mean return over the last 100 episodes, recorded during training on this server.
            </figcaption>
          </figure>
        </section>
      )}
      {episode !== null && (
        <section class="package-section" aria-labelledby="episode">
          <h2 id="episode">Evaluation episode</h2>
          <Replay players={[{ label: 'Agent', name: details.name, version: details.version }]} episode={episode} />
        </section>
      )}
      {agent !== null && <Snippets name={details.name} version={details.version} agent={agent} />}
      {readmeHtml.trim() !== '' && (
        <section class="package-section" aria-labelledby="card">
          <h2 id="card">Model card</h2>
          <Prose html={readmeHtml} title={title} below={2} all={readmeAddress(details)} />
        </section>
      )}
      <details class="package-made" open={countChecks(details.checks).failed > 0}>
        <summary>
          <h2>How it was made</h2> <Icon name="chevron-down" />
        </summary>
        {agent !== null && <Training agent={agent} />}
        {curve === null && (
          <p class="dim">
            No learning curve: this server shows those of its own runs, and the agent was trained elsewhere.
          </p>
        )}
        {agent !== null && (
          <section class="package-section" aria-labelledby="spaces">
            <h3 id="spaces">Observation and action spaces</h3>
            <SpacesTable rows={spacesOfPolicy(agent.policy)} caption="Observation and action of the model" />
          </section>
        )}
        <Checks checks={details.checks} advice={advice} below={2} />
      </details>
    </>
  )
}

function TrainedOn({ agent: { scenario } }: { agent: AgentCard }) {
  const shown = `${scenario.name}@${scenario.version}`
  return (
    <p>
      Trained on{' '}
      {scenario.environment === undefined ? (
        <a class="mono" href={`${packageAddress(scenario.name)}/v/${encodeURIComponent(scenario.version)}`}>
          {shown}
        </a>
      ) : (
        <span class="mono">{shown}</span>
      )}
    </p>
  )
}

function Training({ agent: { algorithm, steps, policy, parent } }: { agent: AgentCard }) {
  return (
    <section class="package-section" aria-label="Training">
      {parent !== undefined && <Parent parent={parent} />}
      <Metrics>
        <Metric label="Algorithm">{algorithm.toUpperCase()}</Metric>
        <Metric label="Trained" note="environment steps">
          {steps.toLocaleString('en')}
        </Metric>
        <Metric label="Network" note={`${policy.activation}, actor and critic`}>
          {policy.hidden.length === 0 ? 'linear' : policy.hidden.join(' × ')}
        </Metric>
      </Metrics>
    </section>
  )
}

/** A package of this registry has a scope; any other name is of an agent that was never published here. */
function Parent({ parent: { name, version, license } }: { parent: NonNullable<AgentCard['parent']> }) {
  const shown = `${name}@${version}`
  return (
    <p>
      Started from the weights of{' '}
      {name.startsWith('@') ? (
        <a class="mono" href={`${packageAddress(name)}/v/${encodeURIComponent(version)}`}>
          {shown}
        </a>
      ) : (
        <span class="mono">{shown}</span>
      )}
      <span class="dim">{license === null ? ', no license' : `, license ${license}`}, according to its publisher</span>
    </p>
  )
}

/** URL of the page with a version's full README. */
function readmeAddress({ name, version }: { name: string; version: string }): string {
  return `${packageAddress(name)}/v/${encodeURIComponent(version)}/readme`
}

/** A version's full README. */
function ReadmePage({ shown: { details, readmeHtml }, title }: { shown: VersionView; title: string }) {
  const { name, version } = details
  return (
    <>
      <p>
        <a href={`${packageAddress(name)}/v/${encodeURIComponent(version)}`}>Back to version {version}</a>
      </p>
      {readmeHtml.trim() === '' ? <p class="dim">No README.</p> : <Prose html={readmeHtml} title={title} />}
    </>
  )
}

/** A component of a space. */
type SpaceRow = { side: 'Observation' | 'Action'; name: string; kind: string; shape: string; values: string }

const spaceColumns: Column<SpaceRow>[] = [
  { title: 'Space', heading: true, cell: ({ side }) => side },
  {
    title: 'Component',
    cell: ({ name }) => (name === '' ? <span class="dim">whole space</span> : <code>{name}</code>),
  },
  { title: 'Type', cell: ({ kind }) => kind },
  { title: 'Shape', numeric: true, cell: ({ shape }) => shape },
  { title: 'Values', wide: true, cell: ({ values }) => values },
]

/** Observation and action spaces, component by component. */
function SpacesTable({ rows, caption }: { rows: SpaceRow[]; caption: string }) {
  return <Table rows={rows} columns={spaceColumns} caption={caption} />
}

const kinds = { box: 'box', discrete: 'discrete', multiDiscrete: 'multi-discrete', text: 'text' }

/** From a scenario's sample episode. */
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

/** From an agent's policy. */
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
  if (counts.length === 0) return 'continuous'
  return counts.length > 6
    ? `${counts.length} of ${Math.min(...counts)} to ${Math.max(...counts)}`
    : `of ${counts.join(', ')}`
}

type Check = VersionDetails['checks'][number]

const checkColumns: Column<Check>[] = [
  { title: 'Check', heading: true, cell: ({ id }) => <code>{id}</code> },
  { title: 'Result', cell: (check) => <CheckResult check={check} /> },
  { title: 'Details', cell: ({ message }) => <span class="package-finding">{message}</span> },
]

function CheckResult({ check }: { check: Check }) {
  const { failed, notRun, warnings } = countChecks([check])
  if (failed > 0) return <Badge tone="bad">failed</Badge>
  if (notRun > 0) return <Badge>not run</Badge>
  return warnings > 0 ? <Badge tone="warning">warning</Badge> : <Badge tone="good">passed</Badge>
}

const shownChecks: Record<string, string> = { baselines: 'Baselines', held_out: 'Evaluation tasks', speed: 'Speed' }

type ChecksProps = {
  checks: Check[]
  /** Whether to show warnings first, which name something for the author to mend. */
  advice: boolean
  /** Level of the heading above. */
  below?: 1 | 2
}

/** Results of running the version in the sandbox: speed, determinism, baselines and more. */
function Checks({ checks, advice, below = 1 }: ChecksProps) {
  if (checks.length === 0) return null
  const shown = checks.filter(({ id, ok, warning }) => ok && ((advice && warning) || Object.hasOwn(shownChecks, id)))
  const { failed, warnings } = countChecks(checks)
  const Heading = below === 1 ? 'h2' : 'h3'
  return (
    <section class="package-section" aria-labelledby="checks">
      <Heading id="checks">Automated checks</Heading>
      {shown.map(({ id, message, warning }) => (
        <p class="package-baseline">
          <span class="package-label">{Object.hasOwn(shownChecks, id) ? shownChecks[id] : id}</span>{' '}
          {warning && <Badge tone="warning">warning</Badge>} {message}
        </p>
      ))}
      <details open={failed > 0}>
        <summary class="package-more">
          {failed > 0 ? checksFailedText(checks) : `${checks.length} of ${checks.length} checks passed`}
          {warnings > 0 && `, ${warnings} with a warning`}
        </summary>
        <Table rows={checks} columns={checkColumns} caption="Checks of this version" />
      </details>
    </section>
  )
}
