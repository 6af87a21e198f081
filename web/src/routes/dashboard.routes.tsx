import type { Publisher, Run } from '@agentgym/contract'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { DashboardPage } from '../pages/dashboard/dashboard-page.tsx'
import { PublishPage } from '../pages/dashboard/publish-page.tsx'
import { PublisherPage } from '../pages/dashboard/publisher-page.tsx'

export const dashboardRoutes = [
  route('get', '/dashboard', { access: 'account' }, async (visit) => {
    const { api, account } = visit
    const [runs, status, publisher, balance, earnings] = await Promise.all([
      api.GET('/v1/runs', { params: { query: { limit: 5 } } }),
      api.GET('/v1/status'),
      readPublisher(visit, account?.username ?? ''),
      api.GET('/v1/balance'),
      api.GET('/v1/earnings'),
    ])
    return visit.page(
      <DashboardPage
        runs={(runs.data?.runs ?? []) as Run[]}
        underWay={status.data?.runs ?? { queued: 0, running: 0 }}
        packages={publisher.packages}
        balanceMinor={balance.data?.available_minor ?? 0}
        earnedMinor={earnings.data?.balance_minor ?? 0}
      />,
      { title: 'Dashboard', hidden: true },
    )
  }),

  route('get', '/publish', { access: 'public' }, (visit) =>
    visit.page(<PublishPage />, {
      title: 'Publish a scenario or an agent',
      description:
        'From a template to a package that others find, train on and buy, in commands that work as they stand.',
    }),
  ),

  /** `/@acme`. */
  route('get', '/:scope{@[^/]+}', { access: 'public' }, async (visit) => {
    const username = visit.params.scope.slice(1)
    const publisher = await readPublisher(visit, username)
    // One account has one address.
    if (publisher.username !== username) return visit.redirect(`/@${publisher.username}`)
    return visit.page(<PublisherPage publisher={publisher} />, {
      title: publisher.display_name ?? publisher.username,
      description: `Scenarios and agents of ${publisher.display_name ?? publisher.username}.`,
    })
  }),
]

async function readPublisher({ api }: Visit, username: string): Promise<Publisher> {
  const { data } = await api.GET('/v1/accounts/{username}', { params: { path: { username } } })
  return data
}
