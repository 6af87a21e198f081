import type { PackagePage } from '@agentgym/contract'
import { Button, Command } from '../../components/controls.tsx'
import { Icon } from '../../components/icon.tsx'
import { Detail } from '../../components/metrics.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { Count, Price, Time } from '../../components/values.tsx'
import { formatBytes, formatCount } from '../../format.ts'
import { usePage } from '../../layout/page-context.ts'
import { accountsOf } from '../../session/accounts.ts'
import { badgeMarkdown } from '../badges.ts'
import type { PackageView } from './read-package.ts'

type PackageAsideProps = {
  view: PackageView
  /** Where it is not the latest. */
  version?: string
  /** Whether the page is about the package as a whole: on other tabs, all but the price is folded. */
  overview: boolean
}

/** Price, command and facts, beside the page; the rest is folded. */
export function PackageAside({ view, version, overview }: PackageAsideProps) {
  const { page } = view
  const first = (
    <>
      {page.latest !== null && <Commands commands={commandsOf(view, version).slice(0, 1)} />}
      <Facts page={page} />
    </>
  )
  return (
    <aside class="package-aside" aria-label="About this package">
      {page.latest !== null && <Purchase view={view} />}
      {overview && first}
      <details class="package-details">
        <summary>
          {overview ? 'More details' : 'Install and details'} <Icon name="chevron-down" size={14} />
        </summary>
        {!overview && first}
        {page.latest !== null && <Commands commands={commandsOf(view, version).slice(1)} />}
        <MoreFacts page={page} />
        {page.quality.parts.length > 0 && <QualityParts quality={page.quality} advice={view.member} />}
        {page.kind === 'agent' && page.visibility === 'public' && <BadgeCode name={page.name} />}
        <p class="package-report">
          {page.latest !== null && (
            <a href={`${packageAddress(page.name)}/dependencies`}>Dependencies and dependents</a>
          )}
          <a href={`${packageAddress(page.name)}/report`}>Report this package</a>
        </p>
      </details>
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
        <p class="package-selling">
          <a href={`${packageAddress(page.name)}/price`}>Set price</a>
          <a href={`${packageAddress(page.name)}/analytics`}>Analytics</a>
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

type LabeledCommand = [label: string, command: string]

/** The first is what most visitors need; `train` installs what it trains on. */
function commandsOf({ page: { kind, name }, offer }: PackageView, version: string | undefined): LabeledCommand[] {
  const target = version === undefined ? name : `${name}@${version}`
  const install: LabeledCommand = ['Install', `agentgym install ${target}`]
  if (kind === 'agent') return [install, ['Evaluate locally', `agentgym eval ${name}`]]
  if (offer?.price.kind === 'per_run') return [['Train on this server', `agentgym train ${target} --remote`]]
  return [['Train locally', `agentgym train ${target}`], install]
}

function Commands({ commands }: { commands: LabeledCommand[] }) {
  if (commands.length === 0) return null
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
  const { latest, owner, quality } = page
  return (
    <dl class="package-facts">
      {latest !== null && (
        <>
          <Detail label="Version">
            <span class="mono">{latest.version}</span>
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
      {quality.parts.length > 0 && (
        <Detail label="Quality">
          {quality.score}
          <span class="dim"> of 100</span>
        </Detail>
      )}
    </dl>
  )
}

/** What else is known of it, with links to packages like it. */
function MoreFacts({ page }: { page: PackagePage }) {
  const { kind, latest } = page
  const tags = tagsOf(page)
  if (tags.length === 0 && page.keywords.length === 0 && latest === null) return null
  return (
    <dl class="package-facts">
      {tags.map(({ label, value, filter }) => (
        <Detail label={label}>
          <a href={`/packages?${new URLSearchParams({ kind, ...filter })}`}>{value}</a>
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
    <section class="package-quality" aria-label="Quality">
      <p>
        Quality
        <span class="package-score">
          {score}
          <span class="dim"> of 100</span>
        </span>
      </p>
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
    </section>
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

type Tag = { label: string; value: string; filter: Record<string, string> }

/** What packages of a kind can be filtered by. */
export function tagsOf({ kind, category, difficulty, algorithm }: PackagePage): Tag[] {
  const tags: Tag[] = []
  if (category !== null) tags.push({ label: 'Category', value: category, filter: { category } })
  if (difficulty !== null) tags.push({ label: 'Difficulty', value: difficulty, filter: { difficulty } })
  if (kind === 'agent' && algorithm !== null)
    tags.push({ label: 'Algorithm', value: algorithm.toUpperCase(), filter: { algorithm } })
  return tags
}
