import type { PackagePage } from '@agentgym/contract'
import type { Child } from 'hono/jsx'
import type { Html, Visit } from '../../app/visit.ts'
import { Badge } from '../../components/badge.tsx'
import { Button, Command, Tabs } from '../../components/controls.tsx'
import { Icon } from '../../components/icon.tsx'
import { EmptyState, Notice } from '../../components/messages.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { Count, Price, Rating, Time } from '../../components/values.tsx'
import { formatBytes, formatCount } from '../../format.ts'
import { usePage } from '../../layout/page-context.ts'
import { accountsOf } from '../../session/accounts.ts'
import { badgeMarkdown } from '../badges.ts'
import { appealAddress } from './appeal.tsx'
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
          {page.category !== null && <Tag page={page} filter={{ category: page.category }} />}
          {page.difficulty !== null && <Tag page={page} filter={{ difficulty: page.difficulty }} />}
          {page.kind === 'agent' && page.algorithm !== null && (
            <Tag page={page} filter={{ algorithm: page.algorithm }} text={page.algorithm.toUpperCase()} />
          )}
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
      <PackageAside view={view} version={version} />
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

type TagProps = { page: PackagePage; filter: Record<string, string>; text?: string }

/** Leads to the packages of the same kind with the same value. */
function Tag({ page: { kind }, filter, text = Object.values(filter)[0] }: TagProps) {
  return <a href={`/packages?${new URLSearchParams({ kind, ...filter })}`}>{text}</a>
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

/** Price, commands, details and quality, beside the page. `version` is set where it is not the latest. */
function PackageAside({ view, version }: { view: PackageView; version?: string }) {
  const { page } = view
  return (
    <aside class="package-aside" aria-label="About this package">
      {page.latest !== null && (
        <>
          <Purchase view={view} />
          <Commands view={view} target={version === undefined ? page.name : `${page.name}@${version}`} />
        </>
      )}
      <Facts page={page} />
      {page.quality.parts.length > 0 && <QualityParts quality={page.quality} advice={view.member} />}
      {page.kind === 'agent' && page.visibility === 'public' && <BadgeCode name={page.name} />}
      <p class="package-report">
        {page.latest !== null && <a href={`${packageAddress(page.name)}/dependencies`}>Dependencies and dependents</a>}
        {sellsFor(page.owner.username) && <a href={`${packageAddress(page.name)}/analytics`}>Analytics</a>}
        <a href={`${packageAddress(page.name)}/report`}>Report this package</a>
      </p>
    </aside>
  )
}

function Purchase({ view: { page, offer, member } }: { view: PackageView }) {
  if (offer === null) return null
  const { price, upcoming, entitled } = offer
  const train = `/runs/new?scenario=${encodeURIComponent(page.name)}`
  const buy = `/buy/${page.name}`
  const sells = sellsFor(page.owner.username)
  return (
    <section class="package-purchase" aria-label="Price">
      <p class="package-price">
        <Price minor={price.amount_minor} currency={price.currency} kind={price.kind} />
        {entitled && price.kind !== 'free' && (
          <span class="package-entitled">
            <Icon name="check" size={14} /> {member ? 'Yours' : 'Owned'}
          </span>
        )}
      </p>
      {price.kind === 'one_time' && <p class="dim">For all {offer.covers} versions</p>}
      {price.kind === 'per_run' && <p class="dim">Runs on this server only, paid per training run</p>}
      {upcoming !== null && (
        <p class="dim">
          From {upcoming.effective_at.slice(0, 10)}{' '}
          <Price minor={upcoming.amount_minor} currency={upcoming.currency} kind={upcoming.kind} />
        </p>
      )}
      <p class="package-actions">
        {!entitled && price.kind === 'one_time' && (
          <Button href={buy} look="primary">
            Buy
          </Button>
        )}
        {page.kind === 'scenario' && (entitled || price.kind === 'per_run') && (
          <Button href={train} look="primary">
            Train on this server
          </Button>
        )}
      </p>
      {sells && (
        <p>
          <a href={`${packageAddress(page.name)}/price`}>Set price</a>
        </p>
      )}
      {offer.trial_calls > 0 && !entitled && <p class="dim">{formatCount(offer.trial_calls, 'trial call')}</p>}
    </section>
  )
}

/** Whether the visitor is an admin of that account. */
function sellsFor(owner: string): boolean {
  const { account } = usePage()
  return account !== null && accountsOf(account, 'admin').includes(owner)
}

function Commands({ view: { page, offer }, target }: { view: PackageView; target: string }) {
  const hosted = offer?.price.kind === 'per_run'
  const commands: [label: string, command: string][] =
    page.kind === 'agent'
      ? [
          ['Install', `agentgym install ${target}`],
          ['Evaluate locally', `agentgym eval ${page.name}`],
        ]
      : hosted
        ? [['Train on this server', `agentgym train ${target} --remote`]]
        : [
            ['Install', `agentgym install ${target}`],
            ['Train locally', `agentgym train ${target}`],
          ]
  return (
    <section class="package-commands" aria-label="Commands">
      {commands.map(([label, command]) => (
        <div>
          <p class="package-label">{label}</p>
          <Command text={command} label={`Copy: ${label}`} />
        </div>
      ))}
    </section>
  )
}

function Facts({ page }: { page: PackagePage }) {
  const { latest, owner } = page
  return (
    <dl class="package-facts">
      {latest !== null && (
        <>
          <Detail label="Version">
            <a class="mono" href={`${packageAddress(page.name)}/v/${encodeURIComponent(latest.version)}`}>
              {latest.version}
            </a>
          </Detail>
          <Detail label="Published">
            <Time at={latest.published_at} />
          </Detail>
          <Detail label="License">{latest.license ?? 'Not specified'}</Detail>
        </>
      )}
      <Detail label="Publisher">
        <a href={`/@${owner.username}`}>{owner.display_name ?? owner.username}</a>
      </Detail>
      {usesOf(page).map(([label, value]) => (
        <Detail label={label}>
          <Count value={value} />
        </Detail>
      ))}
      {page.keywords.length > 0 && (
        <Detail label="Keywords">
          <ul class="package-keywords">
            {page.keywords.map((keyword) => (
              <li>
                <a href={`/packages?${new URLSearchParams({ q: keyword })}`}>{keyword}</a>
              </li>
            ))}
          </ul>
        </Detail>
      )}
      {latest !== null && (
        <>
          <Detail label="Size">{formatBytes(latest.size)}</Detail>
          {latest.repository !== null && (
            <Detail label="Repository">
              <Outside href={latest.repository} />
            </Detail>
          )}
          {latest.homepage !== null && (
            <Detail label="Homepage">
              <Outside href={latest.homepage} />
            </Detail>
          )}
        </>
      )}
    </dl>
  )
}

/** How often it is used; without zeros. */
function usesOf({ downloads, trainings = 0, plays = 0 }: PackagePage): [label: string, value: number][] {
  const uses: [string, number][] = [
    ['Downloads', downloads],
    ['Trainings', trainings],
    ['Plays', plays],
  ]
  return uses.filter(([, value]) => value > 0)
}

/** A link that the registry has verified to be http(s). */
function Outside({ href }: { href: string }) {
  return (
    <a href={href} rel="nofollow noopener noreferrer">
      {URL.parse(href)?.host ?? href}
    </a>
  )
}

/** `advice`: says for each part what would earn more points, which only helps those who can publish. */
function QualityParts({ quality, advice }: { quality: PackagePage['quality']; advice: boolean }) {
  const { score, parts } = quality
  return (
    <details class="package-quality">
      <summary>
        <span>Quality</span>
        <span class="package-score">
          {score}
          <span class="dim"> of 100</span>
        </span>
        <Icon name="chevron-down" size={14} />
      </summary>
      <ul>
        {parts.map(({ id, points, of, why }) => (
          <li>
            <span>{id}</span>
            <svg viewBox="0 0 100 4" width="64" height="4" preserveAspectRatio="none" aria-hidden="true">
              <rect class="quality-bar-rest" width="100" height="4" />
              <rect class="quality-bar-score" width={(100 * points) / of} height="4" />
            </svg>
            <span class="package-points">
              {points}
              <span class="dim">/{of}</span>
            </span>
            {advice && points < of && <p>{why}</p>}
          </li>
        ))}
      </ul>
    </details>
  )
}

/** The Markdown of the badge, folded. */
function BadgeCode({ name }: { name: string }) {
  const { host } = usePage()
  return (
    <details class="package-badge">
      <summary>Badge for your README</summary>
      <img src={`/badges/${name}`} alt="Verification badge" height="20" loading="lazy" />
      <Command text={badgeMarkdown(host.publicUrl, name)} label="Copy Markdown" />
    </details>
  )
}

/** A row of a list of facts: label and value. */
export function Detail({ label, children }: { label: string; children?: Child }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
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
