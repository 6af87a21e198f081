import { route } from '../app/route.ts'
import type { Html, Visit } from '../app/visit.ts'
import { packageAddress } from '../components/package-address.ts'
import { AgentVersion } from '../pages/package/agent-page.tsx'
import { AgentsTab } from '../pages/package/agents-page.tsx'
import { DependenciesTab } from '../pages/package/dependencies-page.tsx'
import { PackageFrame } from '../pages/package/package-frame.tsx'
import {
  type PackageView,
  packagePath,
  readFirstPage,
  readPackage,
  readVersion,
  type VersionView,
} from '../pages/package/read-package.ts'
import { ReadmePage } from '../pages/package/readme-page.tsx'
import { NothingPublished, ScenarioVersion } from '../pages/package/scenario-page.tsx'
import { VersionPage } from '../pages/package/version-page.tsx'
import { VersionsTab, versionsAfter } from '../pages/package/versions-page.tsx'

export const packageRoutes = [
  route('get', '/packages/:scope/:name', { access: 'public' }, async (visit) => {
    const { view, shown } = await readFirstPage(visit)
    return tabPage(visit, view, '', shown === null ? nothing(view) : latestOf(view, shown))
  }),

  route('get', '/packages/:scope/:name/readme', { access: 'public' }, ({ params, redirect }) =>
    redirect(packageAddress(`${params.scope}/${params.name}`)),
  ),

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
    const { data: told } = await visit.api.GET('/v1/packages/{scope}/{name}/changes', {
      params: { ...params, query: { before: part.before, limit: part.list.versions.length || 1 } },
    })
    return tabPage(visit, view, '/versions', <VersionsTab part={part} changes={told?.changes ?? []} />)
  }),

  route('get', '/packages/:scope/:name/dependencies', { access: 'public' }, async (visit) => {
    const view = await readPackage(visit)
    if (view.page.latest === null) return tabPage(visit, view, '/dependencies', nothing(view))
    const params = { path: packagePath(visit) }
    const [{ details }, { data }] = await Promise.all([
      readVersion(visit, view.page.latest.version),
      visit.api.GET('/v1/packages/{scope}/{name}/dependents', { params }),
    ])
    const dependents = data ?? { name: view.page.name, agents: [], packages: [] }
    return tabPage(visit, view, '/dependencies', <DependenciesTab details={details} dependents={dependents} />)
  }),

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

/** Taken down, for somebody who has no part in it. */
function isHidden({ page }: PackageView): boolean {
  return page.latest === null && page.taken_down !== null
}

function nothing(view: PackageView): Html {
  const { page, member } = view
  return <NothingPublished name={page.name} takenDown={isHidden(view)} member={member} />
}

const titles = { '': '', '/agents': 'Agents of ', '/versions': 'Versions of ', '/dependencies': 'Dependencies of ' }

function tabPage(visit: Visit, view: PackageView, tab: keyof typeof titles, body: Html): Response {
  const { page } = view
  const shown = page.title === null ? page.name : `${page.title} (${page.name})`
  return visit.page(
    <PackageFrame view={view} tab={tab}>
      {body}
    </PackageFrame>,
    {
      title: `${titles[tab]}${shown}`,
      description: page.summary ?? undefined,
      hidden: page.taken_down !== null || visit.query.has('cursor') || visit.query.has('before'),
    },
  )
}
