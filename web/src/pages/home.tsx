import { AgentGymError, type Leaderboard, type ListedPackage, type SampleEpisode } from '@agentgym/contract'
import { formatValue } from '@agentgym/contract/charts'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { Badge } from '../components/badge.tsx'
import { Button, Command, installCommand } from '../components/controls.tsx'
import { Icon } from '../components/icon.tsx'
import { EmptyState } from '../components/messages.tsx'
import { Outcome } from '../components/outcome.tsx'
import { PackagePicture, packageAddress } from '../components/package-list.tsx'
import { Count, Price, Rating } from '../components/values.tsx'
import { usePage } from '../layout/page-context.ts'
import { Replay } from '../pictures/replay.tsx'

export const homeRoutes = [
  route('get', '/', { access: 'public' }, async (visit) => {
    const { data } = await visit.api.GET('/v1/packages', {
      params: { query: { kind: 'scenario', sort: 'downloads', limit: 6 } },
    })
    const champions = await championsOf(visit, data.packages)
    const hero = await heroOf(visit, champions, data.packages)
    return visit.page(<HomePage scenarios={data.packages} champions={champions} hero={hero} />, {
      title: 'Decision models you can prove',
      description:
        'Train decision models on simulated scenarios, in your browser or terminal. Every result is verified on held-out episodes and signed.',
    })
  }),
]

/** The best verified agent of a scenario. */
type Champion = { scenario: ListedPackage; entry: Leaderboard['entries'][number] }

/** The best verified agent of each of the scenarios that have one. */
async function championsOf({ api }: Visit, scenarios: ListedPackage[]): Promise<Champion[]> {
  const found = await Promise.all(
    scenarios.map(async (scenario): Promise<Champion[]> => {
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

/** An episode to show first: of the first champion that has one, or else of a scenario. */
type Hero = { name: string; version: string; episode: SampleEpisode; champion: Champion | null }

async function heroOf({ api }: Visit, champions: Champion[], scenarios: ListedPackage[]): Promise<Hero | null> {
  const candidates = [
    ...champions.map((champion) => ({ ...champion.entry.agent, champion })),
    ...scenarios.map(({ name, latest_version }) => ({ name, version: latest_version ?? '', champion: null })),
  ]
  for (const { name, version, champion } of candidates.slice(0, 3)) {
    const [scope, base] = name.split('/')
    try {
      const { data } = await api.GET('/v1/packages/{scope}/{name}/versions/{version}/sample-episode', {
        params: { path: { scope, name: base, version } },
      })
      return { name, version, episode: data, champion }
    } catch (error) {
      if (!(error instanceof AgentGymError)) throw error
    }
  }
  return null
}

type HomePageProps = { scenarios: ListedPackage[]; champions: Champion[]; hero: Hero | null }

function HomePage({ scenarios, champions, hero }: HomePageProps) {
  return (
    <div class="home">
      <section class={hero === null ? 'home-lead home-lead-alone' : 'home-lead'}>
        <Lead scenario={(scenarios.find(({ price_minor }) => price_minor === 0) ?? scenarios.at(0))?.name} />
        {hero !== null && <HeroEpisode hero={hero} />}
      </section>
      {scenarios.length === 0 ? (
        <EmptyState title="No scenarios yet" command="agentgym scenario init my-scenario">
          Scenarios and verified agents appear here once published. Start with a scenario of your own.
        </EmptyState>
      ) : (
        <>
          <Shelf title="Top agents" more="/packages?kind=agent">
            {champions.map((champion) => (
              <ChampionCard champion={champion} />
            ))}
          </Shelf>
          <Shelf title="Popular scenarios" more="/packages?kind=scenario">
            {scenarios.map((one) => (
              <PackageCard item={one} />
            ))}
          </Shelf>
        </>
      )}
    </div>
  )
}

/** What an agent is, and how to get one. `scenario`: the one to start with. */
function Lead({ scenario }: { scenario: string | undefined }) {
  const { host } = usePage()
  return (
    <div>
      <h1>Decision models you can prove</h1>
      <p class="lead">
        An agent is a decision model: state in, a choice and its probabilities out, in microseconds. It learns from
        outcomes in a simulated scenario, and its results are verified bit for bit.
      </p>
      <p class="home-actions">
        <Button href={scenario === undefined ? '/packages' : `/runs/new?scenario=${scenario}`} look="primary">
          Train in your browser
        </Button>
        <a href="/docs/install">Install for your terminal</a>
      </p>
      <div class="home-commands">
        {host.commandUrl && <Command text={installCommand(host.commandUrl)} />}
        <Command text={`agentgym train ${scenario ?? 'my-scenario'} --watch`} />
      </div>
    </div>
  )
}

function HeroEpisode({ hero: { name, version, episode, champion } }: { hero: Hero }) {
  return (
    <div class="home-episode">
      <Replay
        players={[{ label: champion === null ? 'Random' : 'Best agent', name, version }]}
        episode={episode}
        size="small"
      />
      <p class="home-episode-of">
        <a href={packageAddress(name)}>{champion?.entry.agent.title ?? champion?.scenario.title ?? name}</a>
        {champion !== null && <Standing champion={champion} />}
      </p>
    </div>
  )
}

type ShelfProps = { title: string; more: string; children: ReturnType<typeof PackageCard>[] }

function Shelf({ title, more, children }: ShelfProps) {
  if (children.length === 0) return null
  return (
    <section class="shelf">
      <header class="section-head">
        <h2>{title}</h2>
        <a href={more}>View all</a>
      </header>
      <ul class="cards">{children}</ul>
    </section>
  )
}

/** A verified agent with a picture of what it does. */
function ChampionCard({ champion }: { champion: Champion }) {
  const { scenario, entry } = champion
  const { name, version, title } = entry.agent
  return (
    <li class="card">
      <PackagePicture name={name} version={version} />
      <div class="card-body">
        <h3>
          <a class="card-link" href={packageAddress(name)}>
            {title ?? name.split('/')[1]}
          </a>
        </h3>
        <p class="card-id">{name}</p>
        <p class="card-summary">{scenario.summary ?? scenario.title}</p>
        <p class="card-facts">
          <Standing champion={champion} />
        </p>
      </div>
    </li>
  )
}

function Standing({ champion: { entry } }: { champion: Champion }) {
  return (
    <span class="home-standing" title={`Mean return over ${entry.episodes} held-out episodes`}>
      <Icon name="badge-check" size={14} />
      Verified return {formatValue(entry.return_mean)}
    </span>
  )
}

function PackageCard({ item }: { item: ListedPackage }) {
  return (
    <li class="card">
      <PackagePicture name={item.name} version={item.latest_version} best={item.best_return} />
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
          {item.best_return !== null && (
            <Outcome success={item.best_return.outcome} returnMean={item.best_return.return_mean} form="short" />
          )}
          {item.downloads > 0 && (
            <span>
              <Count value={item.downloads} /> {item.downloads === 1 ? 'download' : 'downloads'}
            </span>
          )}
          <Rating rating={item.rating} votes={item.votes} />
          <Price minor={item.price_minor} currency={item.currency} kind={item.price_kind} />
        </p>
      </div>
    </li>
  )
}
