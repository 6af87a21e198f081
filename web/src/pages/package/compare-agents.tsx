import type { AgentComparison, SampleEpisode } from '@agentgym/contract'
import { formatValue } from '@agentgym/contract/charts'
import { lastStep } from '@agentgym/pictures'
import { route } from '../../app/route.ts'
import { packageAddress } from '../../components/package-list.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { useIsland } from '../../layout/page-context.ts'
import { pairedPlot } from '../../pictures/paired-plot.ts'
import { Picture } from '../../pictures/picture.tsx'
import { ReplayControls, ReplayPanel } from '../../pictures/replay.tsx'
import { nothing, tabPage } from './package-frame.tsx'
import { packagePath, readPackage, readSampleEpisode } from './read-package.ts'

/** Of the API. */
const mostCompared = 4

export const compareAgentRoutes = [
  route('get', '/packages/:scope/:name/agents/compare', { access: 'public' }, async (visit) => {
    const view = await readPackage(visit)
    const { page } = view
    const names = [...new Set(visit.query.getAll('agents'))].slice(0, mostCompared)
    if (page.kind === 'agent' || names.length < 2) return visit.redirect(`${packageAddress(page.name)}/agents`)
    if (page.latest === null) return tabPage(visit, view, '/agents', nothing(view))
    const { data } = await visit.api.GET('/v1/packages/{scope}/{name}/versions/{version}/comparison', {
      params: { path: { ...packagePath(visit), version: page.latest.version }, query: { agents: names.join(',') } },
    })
    const episodes = await Promise.all(data.agents.map((agent) => readSampleEpisode(visit, agent)))
    return tabPage(visit, view, '/agents', <ComparedAgents comparison={data} episodes={episodes} />)
  }),
]

type Agent = AgentComparison['agents'][number]
type Difference = AgentComparison['differences'][number]
type Row = { agent: Agent; difference: Difference | undefined }

type ComparedAgentsProps = {
  comparison: AgentComparison
  /** Of each agent, in order; null if it has none. */
  episodes: (SampleEpisode | null)[]
}

/** Verified agents side by side: their episodes in step, then their returns on the same held-out episodes. */
function ComparedAgents({ comparison, episodes }: ComparedAgentsProps) {
  const { scenario, agents, differences } = comparison
  const [first] = agents
  const rows = agents.map((agent, i) => ({ agent, difference: i === 0 ? undefined : differences[i - 1] }))
  return (
    <section class="package-section" aria-labelledby="comparison">
      <h2 id="comparison">Compare agents</h2>
      <SideBySide agents={agents} episodes={episodes} />
      <h3>Held-out returns</h3>
      <p class="dim">
        All agents played the same episodes of version <span class="mono">{scenario.version}</span>, so their returns
        are compared episode by episode. Intervals are of 95%.
      </p>
      <Table rows={rows} columns={columnsFor(first)} caption={`Agents of ${scenario.name}@${scenario.version}`} />
      {rows.map(({ agent, difference }) => (
        <PairedReturns agent={agent} first={first} difference={difference} />
      ))}
      <p>
        <a href={`${packageAddress(scenario.name)}/agents`}>Back to the leaderboard</a>
      </p>
    </section>
  )
}

/** One transport for all. */
function SideBySide({ agents, episodes }: { agents: Agent[]; episodes: (SampleEpisode | null)[] }) {
  const shown = agents.flatMap((agent, i) => {
    const episode = episodes[i]
    return episode === null ? [] : [{ agent, episode }]
  })
  if (shown.length === 0) return null
  useIsland('replay')
  return (
    <figure class="replay replay-side" data-replay>
      <div class="replay-sides">
        {shown.map(({ agent: { name, version }, episode }) => (
          <div>
            <h3 class="replay-name">
              <a href={packageAddress(name)}>{name}</a>
            </h3>
            <ReplayPanel players={[{ label: name, name, version }]} episode={episode} size="small" />
          </div>
        ))}
      </div>
      <ReplayControls last={Math.max(...shown.map(({ episode }) => lastStep(episode)))} />
    </figure>
  )
}

function columnsFor(first: Agent): Column<Row>[] {
  return [
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
    { title: 'Mean return', numeric: true, cell: ({ agent }) => formatValue(agent.return_mean) },
    {
      title: `Difference from ${first.name}`,
      numeric: true,
      cell: ({ difference }) => (difference == null ? <span class="dim">–</span> : differenceText(difference)),
    },
  ]
}

function differenceText({ mean, confidence }: NonNullable<Difference>): string {
  const interval = confidence === null ? '' : ` (${formatValue(confidence.low)} to ${formatValue(confidence.high)})`
  return `${mean > 0 ? '+' : ''}${formatValue(mean)}${interval}`
}

/** A dot for each episode. Nothing for the first agent; a reason for agents that did not play the same episodes. */
function PairedReturns({
  agent,
  first,
  difference,
}: {
  agent: Agent
  first: Agent
  difference: Difference | undefined
}) {
  if (difference === undefined) return null
  const [own, others] = [agent.returns, first.returns]
  if (difference === null || own === null || others === null)
    return (
      <p class="dim">
        {agent.name} and {first.name} were verified on different held-out episodes. They can be compared once both are
        verified in one season.
      </p>
    )
  const paired = own.map((value, episode) => value - others[episode])
  if (paired.every((value) => value === 0))
    return (
      <p class="dim">
        {agent.name} and {first.name} had the same return in each of {own.length} episodes.
      </p>
    )
  const title = `${agent.name} minus ${first.name}, episode by episode: ${differenceText(difference)}`
  return (
    <figure class="paired">
      <Picture picture={pairedPlot({ ...difference, differences: paired, title })} />
      <figcaption class="dim">
        Return of {agent.name} minus that of {first.name}: a dot for each of {own.length} episodes, and their mean.
      </figcaption>
    </figure>
  )
}
