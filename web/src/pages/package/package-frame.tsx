import type { Child } from 'hono/jsx'
import { Badge } from '../../components/badge.tsx'
import { Icon } from '../../components/icon.tsx'
import { Notice } from '../../components/notice.tsx'
import { packageAddress } from '../../components/package-address.ts'
import { Rating } from '../../components/rating.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { PackageAside } from './package-aside.tsx'
import type { PackageView } from './read-package.ts'

type PackageFrameProps = {
  view: PackageView
  /** The tab that is open, as its address ends: empty for the first. */
  tab: '' | '/agents' | '/versions' | '/dependencies' | '/reviews' | '/try' | null
  /** Beside the name, where it is not the latest. */
  version?: string
  children?: Child
}

/** What stands around every page of a package: its name, its parts, and on the right what one does with it. */
export function PackageFrame({ view, tab, version, children }: PackageFrameProps) {
  const { page } = view
  const address = packageAddress(page.name)
  const [scope, base] = page.name.split('/')
  return (
    <article class="package">
      <header class="package-head">
        <p class="package-kind">
          <Badge>{page.kind}</Badge>
          {page.category !== null && <span>{page.category}</span>}
          {page.difficulty !== null && <span>{page.difficulty}</span>}
          {page.kind === 'agent' && page.algorithm !== null && <span>{page.algorithm.toUpperCase()}</span>}
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
        <Standing view={view} />
      </header>
      <PackageAside view={view} version={version} />
      <div class="package-main">
        <Tabs
          label="Parts of this package"
          current={`${address}${tab ?? '/none'}`}
          tabs={[
            { href: address, title: page.kind === 'agent' ? 'Agent' : 'Scenario' },
            ...(page.kind === 'agent' ? [{ href: `${address}/try`, title: 'Try it' }] : []),
            ...(page.kind === 'scenario' ? [{ href: `${address}/agents`, title: 'Agents' }] : []),
            { href: `${address}/versions`, title: 'Versions', count: page.versions_count },
            { href: `${address}/dependencies`, title: 'Dependencies' },
            { href: `${address}/reviews`, title: 'Reviews', count: page.votes },
          ]}
        />
        <div class="package-body">{children}</div>
      </div>
    </article>
  )
}

/** What speaks against using it. */
function Standing({ view: { page } }: { view: PackageView }) {
  const { taken_down: takenDown, latest } = page
  return (
    <>
      {takenDown !== null && (
        <Notice kind="failure">
          The operators of this server took it down on {takenDown.at.slice(0, 10)}
          {takenDown.reason === null ? '.' : `: ${takenDown.reason}`}
        </Notice>
      )}
      {latest !== null && latest.deprecated !== null && (
        <Notice kind="warning">Its latest version is deprecated: {latest.deprecated}</Notice>
      )}
    </>
  )
}
