import type { Child } from 'hono/jsx'
import type { Html, Visit } from '../../app/visit.ts'
import { Badge } from '../../components/badge.tsx'
import { Tabs } from '../../components/controls.tsx'
import { Icon } from '../../components/icon.tsx'
import { EmptyState, Notice } from '../../components/messages.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { Rating } from '../../components/values.tsx'
import { appealAddress } from './appeal.tsx'
import { PackageAside, tagsOf } from './package-aside.tsx'
import type { PackageView } from './read-package.ts'

type PackageFrameProps = {
  view: PackageView
  /** Path segment of the open tab; empty for the first. */
  tab: '' | '/files' | '/agents' | '/versions' | '/dependencies' | '/reviews' | '/try' | '/play' | null
  /** Shown next to the name if it is not the latest. */
  version?: string
  children?: Child
}

/** Frame of every page of a package: header, tabs, and the column on the right. */
export function PackageFrame({ view, tab, version, children }: PackageFrameProps) {
  const { page } = view
  const address = packageAddress(page.name)
  const [scope, base] = page.name.split('/')
  return (
    <article class="package">
      <header class="package-head">
        <p class="package-kind">
          <Badge>{page.kind}</Badge>
          {tagsOf(page).map(({ value }) => (
            <span>{value}</span>
          ))}
          {page.visibility === 'private' && (
            <span class="package-private">
              <Icon name="lock" size={12} /> private
            </span>
          )}
          <Rating rating={page.rating} votes={page.votes} />
        </p>
        <h1 dir="auto">{page.title ?? base}</h1>
        <p class="package-id">
          <span class="dim">{scope}/</span>
          {base}
          {version !== undefined && <span class="dim">@{version}</span>}
        </p>
        {page.summary !== null && page.summary !== '' && (
          <p class="lead" dir="auto">
            {page.summary}
          </p>
        )}
        <Notices view={view} />
      </header>
      <PackageAside view={view} version={version} overview={tab === '' || tab === null} />
      <div class="package-main">
        <Tabs
          label="Package"
          current={`${address}${tab ?? '/none'}`}
          tabs={[
            { href: address, title: 'Overview' },
            ...(page.latest === null ? [] : [{ href: `${address}/play`, title: 'Play' }]),
            ...(page.kind === 'agent' ? [{ href: `${address}/try`, title: 'Try it' }] : []),
            { href: `${address}/files`, title: 'Files' },
            { href: `${address}/versions`, title: 'Versions', count: page.versions_count },
            ...(page.kind === 'scenario' ? [{ href: `${address}/agents`, title: 'Leaderboard' }] : []),
            { href: `${address}/reviews`, title: 'Reviews', count: page.votes },
          ]}
        />
        <div class="package-body">{children}</div>
      </div>
    </article>
  )
}

/** Takedown and deprecation notices. */
function Notices({ view: { page, member } }: { view: PackageView }) {
  const { taken_down: takenDown, latest } = page
  return (
    <>
      {takenDown !== null && (
        <Notice kind="failure">
          Taken down by the operators of this server on {takenDown.at.slice(0, 10)}
          {takenDown.reason === null ? '.' : `: ${takenDown.reason}`}{' '}
          {member && <a href={appealAddress(page.name)}>Appeal</a>}
        </Notice>
      )}
      {latest !== null && latest.deprecated !== null && (
        <Notice kind="warning">The latest version is deprecated: {latest.deprecated}</Notice>
      )}
    </>
  )
}

/** A package without a published version, or one that was taken down. */
export function NothingPublished({ name, takenDown, member }: { name: string; takenDown: boolean; member: boolean }) {
  if (takenDown)
    return <EmptyState title="This package was taken down">Its README and versions are not available.</EmptyState>
  return (
    <EmptyState title="No published versions yet" command={member ? 'agentgym scenario publish .' : undefined}>
      {name} appears here once a version has passed its checks.
      {member && ' See Versions for their progress.'}
    </EmptyState>
  )
}

/** Taken down, and the visitor is not a member. */
export function isHidden({ page }: PackageView): boolean {
  return page.latest === null && page.taken_down !== null
}

export function nothing(view: PackageView): Html {
  const { page, member } = view
  return <NothingPublished name={page.name} takenDown={isHidden(view)} member={member} />
}

const titles = {
  '': '',
  '/files': 'Files of ',
  '/agents': 'Leaderboard of ',
  '/versions': 'Versions of ',
  '/dependencies': 'Dependencies of ',
}

/** One tab of a package as a page. */
export function tabPage(visit: Visit, view: PackageView, tab: keyof typeof titles, body: Html): Response {
  const { page } = view
  const shown = page.title === null ? page.name : `${page.title} (${page.name})`
  return visit.page(
    <PackageFrame view={view} tab={tab}>
      {body}
    </PackageFrame>,
    {
      title: `${titles[tab]}${shown}`,
      description: page.summary ?? undefined,
      preview: page.latest === null ? undefined : { name: page.name, version: page.latest.version },
      hidden: page.taken_down !== null || ['cursor', 'before', 'agents'].some((name) => visit.query.has(name)),
      feed: `${packageAddress(page.name)}/feed.atom`,
    },
  )
}

export function tryAddress(name: string): string {
  return `${packageAddress(name)}/try`
}
