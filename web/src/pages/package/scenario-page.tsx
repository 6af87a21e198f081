import type { SuccessCriteria } from '@agentgym/contract'
import { EmptyState } from '../../components/empty-state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Replay } from '../../pictures/replay.tsx'
import { shownNumber } from '../../pictures/shown-number.ts'
import { Checks } from './checks.tsx'
import { Prose } from './prose.tsx'
import type { VersionView } from './read-package.ts'
import { readmeAddress } from './readme-page.tsx'
import { SpacesTable, spacesOfEpisode } from './spaces-table.tsx'
import { successOf } from './version-facts.ts'

/** A version of a scenario: an episode of it, its README, and what was measured of it. */
export function ScenarioVersion({ shown, title }: { shown: VersionView; title: string }) {
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

const columns: Column<[string, number]>[] = [
  { title: 'Metric', heading: true, cell: ([metric]) => <code>{metric}</code> },
  { title: 'At least', numeric: true, cell: ([, target]) => shownNumber(target) },
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
            <Table rows={rows} columns={columns} caption="What counts as success" />
          </div>
        </>
      )}
    </section>
  )
}

/** Before anything is published, or where it may not be shown. */
export function NothingPublished({ name, takenDown, member }: { name: string; takenDown: boolean; member: boolean }) {
  if (takenDown)
    return <EmptyState title="It was taken down">Neither its README nor its versions are shown.</EmptyState>
  return (
    <EmptyState title="No version is published yet" command={member ? 'agentgym scenario publish .' : undefined}>
      What {name} is stands here once a version has passed its checks.
      {member && ' Its versions say how far they are.'}
    </EmptyState>
  )
}
