import type { ListedPackage } from '@agentgym/contract'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { type Champion, HomePage } from '../pages/home/home-page.tsx'

export const homeRoutes = [
  route('get', '/', { access: 'public' }, async (visit) => {
    const [trending, featured] = await Promise.all([scenariosBy(visit, 'downloads'), scenariosBy(visit, 'quality')])
    const champions = await championsOf(visit, trending)
    // What is at the top of the first shelf is not shown again.
    const rest = featured.filter(({ name }) => !trending.some((other) => other.name === name)).slice(0, 3)
    return visit.page(
      <HomePage trending={trending.slice(0, 6)} featured={rest} champions={champions} server={visit.host.publicUrl} />,
      {
        title: 'Scenarios and verified agents',
        description: 'A marketplace of reinforcement-learning scenarios, and of agents that were run again and signed.',
      },
    )
  }),
]

async function scenariosBy({ api }: Visit, sort: 'downloads' | 'quality'): Promise<ListedPackage[]> {
  const { data } = await api.GET('/v1/packages', { params: { query: { kind: 'scenario', sort, limit: 12 } } })
  return data?.packages ?? []
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
      return (data?.entries ?? []).map((entry) => ({ scenario, entry }))
    }),
  )
  return found.flat()
}
