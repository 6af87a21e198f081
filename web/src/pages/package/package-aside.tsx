import type { PackagePage } from '@agentgym/contract'
import { Button } from '../../components/button.tsx'
import { Command } from '../../components/command.tsx'
import { Count } from '../../components/count.tsx'
import { Icon } from '../../components/icon.tsx'
import { packageAddress } from '../../components/package-address.ts'
import { Price } from '../../components/price.tsx'
import { Time } from '../../components/time.tsx'
import { usePage } from '../../layout/page-context.ts'
import { accountsOf } from '../market/accounts-of.ts'
import { Fact } from './fact.tsx'
import type { PackageView } from './read-package.ts'
import { shownBytes } from './shown-bytes.ts'

/** Price, commands, facts and quality: what stays in sight while one reads. `version` where it is not the latest. */
export function PackageAside({ view, version }: { view: PackageView; version?: string }) {
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
      {page.quality.parts.length > 0 && <QualityParts quality={page.quality} />}
      <p class="package-report">
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
  const { account } = usePage()
  const sells = account !== null && accountsOf(account, 'admin').includes(page.owner.username)
  return (
    <section class="package-purchase" aria-label="Price">
      <p class="package-price">
        <Price minor={price.amount_minor} currency={price.currency} kind={price.kind} />
        {entitled && price.kind !== 'free' && (
          <span class="package-entitled">
            <Icon name="check" size={14} /> {member ? 'Your own' : 'You have it'}
          </span>
        )}
      </p>
      {price.kind === 'one_time' && <p class="dim">Covers every version {offer.covers}</p>}
      {price.kind === 'per_run' && <p class="dim">Runs on this server only; paid for each training run</p>}
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
          <a href={`${packageAddress(page.name)}/price`}>Set the price</a>
        </p>
      )}
      {offer.trial_calls > 0 && !entitled && (
        <p class="dim">
          {offer.trial_calls.toLocaleString('en')} {offer.trial_calls === 1 ? 'call' : 'calls'} on trial
        </p>
      )}
    </section>
  )
}

function Commands({ view: { page, offer }, target }: { view: PackageView; target: string }) {
  const hosted = offer?.price.kind === 'per_run'
  const commands: [label: string, command: string][] =
    page.kind === 'agent'
      ? [
          ['Install', `agentgym install ${target}`],
          ['Play it again', `agentgym eval ${page.name}`],
        ]
      : hosted
        ? [['Train on this server', `agentgym train ${target} --remote`]]
        : [
            ['Install', `agentgym install ${target}`],
            ['Train on this machine', `agentgym train ${target}`],
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
          <Fact label="Version">
            <a class="mono" href={`${packageAddress(page.name)}/v/${encodeURIComponent(latest.version)}`}>
              {latest.version}
            </a>
          </Fact>
          <Fact label="Published">
            <Time at={latest.published_at} />
          </Fact>
          <Fact label="Licence">{latest.license ?? 'none named'}</Fact>
        </>
      )}
      <Fact label="Publisher">
        <a href={`/packages?q=${encodeURIComponent(owner.username)}`}>{owner.display_name ?? owner.username}</a>
      </Fact>
      <Fact label="Downloads">
        <Count value={page.downloads} />
      </Fact>
      {latest !== null && (
        <>
          <Fact label="Size">{shownBytes(latest.size)}</Fact>
          {latest.repository !== null && (
            <Fact label="Repository">
              <Outside href={latest.repository} />
            </Fact>
          )}
          {latest.homepage !== null && (
            <Fact label="Home page">
              <Outside href={latest.homepage} />
            </Fact>
          )}
        </>
      )}
    </dl>
  )
}

/** What the registry has held to be http(s). */
function Outside({ href }: { href: string }) {
  return (
    <a href={href} rel="nofollow noopener noreferrer">
      {URL.parse(href)?.host ?? href}
    </a>
  )
}

function QualityParts({ quality: { score, parts } }: { quality: PackagePage['quality'] }) {
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
          <li title={why}>
            <span>{id}</span>
            <svg viewBox="0 0 100 4" width="64" height="4" preserveAspectRatio="none" aria-hidden="true">
              <rect class="quality-bar-rest" width="100" height="4" />
              <rect class="quality-bar-score" width={(100 * points) / of} height="4" />
            </svg>
            <span class="package-points">
              {points}
              <span class="dim">/{of}</span>
            </span>
            {points < of && <p>{why}</p>}
          </li>
        ))}
      </ul>
    </details>
  )
}
