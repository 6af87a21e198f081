import type { Leaderboard, ListedPackage } from '@agentgym/contract'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { Badge } from '../components/badge.tsx'
import { Button, Command } from '../components/controls.tsx'
import { EmptyState } from '../components/messages.tsx'
import { PackagePicture, packageAddress } from '../components/package-list.tsx'
import { type Column, Table } from '../components/table.tsx'
import { Count, Price, Rating, Time } from '../components/values.tsx'

export const homeRoutes = [
  route('get', '/', { access: 'public' }, async (visit) => {
    const [trending, featured] = await Promise.all([scenariosBy(visit, 'downloads'), scenariosBy(visit, 'quality')])
    const champions = await championsOf(visit, trending)
    // Packages of the first section are not repeated.
    const rest = featured.filter(({ name }) => !trending.some((other) => other.name === name)).slice(0, 3)
    return visit.page(
      <HomePage trending={trending.slice(0, 6)} featured={rest} champions={champions} server={visit.host.publicUrl} />,
      {
        title: 'Scenarios and verified agents',
        description: 'A marketplace for reinforcement-learning scenarios and verified agents.',
      },
    )
  }),
]

async function scenariosBy({ api }: Visit, sort: 'downloads' | 'quality'): Promise<ListedPackage[]> {
  const { data } = await api.GET('/v1/packages', { params: { query: { kind: 'scenario', sort, limit: 12 } } })
  return data.packages
}

/** The best verified agent of each of the first scenarios that have one. */
async function championsOf({ api }: Visit, scenarios: ListedPackage[]): Promise<Champion[]> {
  const found = await Promise.all(
    scenarios.slice(0, 6).map(async (scenario): Promise<Champion[]> => {
      if (scenario.latest_version === null) return []
      const [scope, name] = scenario.name.split('/')
      const { data } = await api.GET('/v1/packages/{scope}/{name}/versions/{version}/leaderboard', {
        params: { path: { scope, name, version: scenario.latest_version }, query: { limit: 1 } },
      })
      return data.entries.map((entry) => ({ scenario, entry }))
    }),
  )
  return found.flat()
}

/** The best verified agent of a scenario. */
type Champion = { scenario: ListedPackage; entry: Leaderboard['entries'][number] }

type HomePageProps = {
  /** Most downloaded. */
  trending: ListedPackage[]
  /** Highest quality. */
  featured: ListedPackage[]
  champions: Champion[]
  /** Public URL of this server. */
  server: string
}

function HomePage({ trending, featured, champions, server }: HomePageProps) {
  const empty = trending.length === 0 && featured.length === 0
  return (
    <div class="home">
      <section class="home-lead">
        <div>
          <h1>Train RL agents. Prove they work.</h1>
          <p class="lead">
            Scenarios are reinforcement-learning environments in TypeScript. They run in a sandbox and reproduce bit for
            bit. Trained agents are evaluated here on held-out seeds, and the result is signed.
          </p>
          <p class="home-actions">
            <Button href="/packages?kind=scenario" look="primary">
              Browse scenarios
            </Button>
            <Button href="/packages?kind=agent">Browse agents</Button>
          </p>
        </div>
        <Start server={server} example={trending[0]?.name ?? '@you/my-scenario'} />
      </section>
      {empty ? (
        <EmptyState title="No scenarios yet" command="agentgym scenario init my-scenario">
          Scenarios and the best verified agents appear here once published. Start with a scenario of your own.
        </EmptyState>
      ) : (
        <>
          <Shelf title="Most downloaded" packages={trending} more="/packages?kind=scenario&sort=downloads" />
          <Champions champions={champions} />
          <Shelf title="Highest quality" packages={featured} more="/packages?kind=scenario&sort=quality" />
        </>
      )}
    </div>
  )
}

/** The three commands to start with. */
function Start({ server, example }: { server: string; example: string }) {
  const steps = [
    { title: 'Log in to this server', command: `AGENTGYM_SERVER=${server} agentgym login` },
    { title: 'Train an agent locally', command: `agentgym train ${example} --out my-agent` },
    { title: 'Publish it for verification', command: 'agentgym agent publish my-agent' },
  ]
  return (
    <ol class="start">
      {steps.map(({ title, command }) => (
        <li>
          <p>{title}</p>
          <Command text={command} />
        </li>
      ))}
    </ol>
  )
}

function Shelf({ title, packages, more }: { title: string; packages: ListedPackage[]; more: string }) {
  if (packages.length === 0) return null
  return (
    <section class="shelf">
      <header class="section-head">
        <h2>{title}</h2>
        <a href={more}>View all</a>
      </header>
      <ul class="cards">
        {packages.map((one) => (
          <PackageCard item={one} />
        ))}
      </ul>
    </section>
  )
}

function PackageCard({ item }: { item: ListedPackage }) {
  return (
    <li class="card">
      <PackagePicture name={item.name} version={item.latest_version} />
      <div class="card-body">
        <h3>
          <a class="card-link" href={packageAddress(item.name)}>
            {item.title ?? item.name}
          </a>
        </h3>
        <p class="card-id">{item.name}</p>
        {item.summary !== null && <p class="card-summary">{item.summary}</p>}
        <p class="card-facts">
          {item.difficulty !== null && <Badge>{item.difficulty}</Badge>}
          <span>
            <Count value={item.downloads} /> {item.downloads === 1 ? 'download' : 'downloads'}
          </span>
          <Rating rating={item.rating} votes={item.votes} />
          <Price minor={item.price_minor} currency={item.currency} kind={item.price_kind} />
        </p>
      </div>
    </li>
  )
}

const championColumns: Column<Champion>[] = [
  {
    title: 'Scenario',
    heading: true,
    cell: ({ scenario }) => <a href={packageAddress(scenario.name)}>{scenario.title ?? scenario.name}</a>,
  },
  {
    title: 'Agent',
    cell: ({ entry }) => (
      <a class="mono" href={packageAddress(entry.agent.name)}>
        {entry.agent.name}
      </a>
    ),
  },
  { title: 'Algorithm', wide: true, cell: ({ entry }) => entry.agent.algorithm.toUpperCase() },
  { title: 'Return', numeric: true, cell: ({ entry }) => <MeanReturn entry={entry} /> },
  { title: 'Episodes', numeric: true, wide: true, cell: ({ entry }) => entry.episodes },
  { title: 'Verified', wide: true, cell: ({ entry }) => <Time at={entry.verified_at} /> },
]

function Champions({ champions }: { champions: Champion[] }) {
  if (champions.length === 0) return null
  return (
    <section class="shelf">
      <header class="section-head">
        <h2>Best verified agents</h2>
        <a href="/packages?kind=agent">View all</a>
      </header>
      <Table rows={champions} columns={championColumns} caption="The best verified agent of each scenario" />
    </section>
  )
}

function MeanReturn({ entry }: { entry: Champion['entry'] }) {
  return (
    <>
      {entry.return_mean.toFixed(1)}
      {entry.return_std !== null && <span class="dim"> ± {entry.return_std.toFixed(1)}</span>}
    </>
  )
}
