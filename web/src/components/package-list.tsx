import type { ListedPackage } from '@agentgym/contract'
import { formatValue } from '@agentgym/contract/charts'
import { sparkline } from '../pictures/learning-curve.ts'
import { Picture } from '../pictures/picture.tsx'
import { emblem } from '../pictures/thumbnail.ts'
import { Badge } from './badge.tsx'
import { Icon } from './icon.tsx'
import { Detail } from './metrics.tsx'
import { Count, Price, Rating, Time } from './values.tsx'

type PackageListProps = {
  packages: ListedPackage[]
  label: string
  /** Heading level of the names. */
  level?: 2 | 3
}

/** Packages as a list that reads like a table. */
export function PackageList({ packages, label, level = 3 }: PackageListProps) {
  return (
    <div class="package-list">
      <div class="package-list-head" aria-hidden="true">
        <span>Package</span>
        <span>Type and quality</span>
        <span>Best return</span>
        <span>Price</span>
        <span>Downloads</span>
        <span>Updated</span>
      </div>
      <ol aria-label={label}>
        {packages.map((one) => (
          <PackageRow item={one} level={level} />
        ))}
      </ol>
    </div>
  )
}

function PackageRow({ item, level }: { item: ListedPackage; level: 2 | 3 }) {
  const Heading = level === 2 ? 'h2' : 'h3'
  const [scope, name] = item.name.split('/')
  return (
    <li class="package-row">
      <PackagePicture name={item.name} version={item.latest_version} />
      <div class="package-row-main">
        <Heading class="package-row-name">
          <a href={packageAddress(item.name)}>{item.title ?? name}</a>
          {item.visibility === 'private' && <Icon name="lock" size={14} label="Private" />}
        </Heading>
        <p class="package-row-id">
          <span class="dim">{scope}/</span>
          {name}
        </p>
        {item.summary !== null && <p class="package-row-summary">{item.summary}</p>}
      </div>
      <p class="package-row-kind">
        <Badge>{item.kind}</Badge>
        <span>{item.kind === 'agent' ? item.algorithm?.toUpperCase() : item.difficulty}</span>
        <Quality score={item.quality} />
        <Rating rating={item.rating} votes={item.votes} />
      </p>
      <dl class="package-row-facts">
        <Detail label="Best return">
          <Best best={item.best_return} />
        </Detail>
        <Detail label="Price">
          <Price minor={item.price_minor} currency={item.currency} kind={item.price_kind} />
        </Detail>
        <Detail label="Downloads">
          <Count value={item.downloads} />
        </Detail>
        <Detail label="Updated">
          <Time at={item.updated_at} />
        </Detail>
      </dl>
    </li>
  )
}

/** The best verified return, with the learning curve of that agent. */
function Best({ best }: { best: ListedPackage['best_return'] }) {
  if (best === null) return <span class="dim">None yet</span>
  return (
    <span class="best-return" title={`${best.agent}, held-out mean return`}>
      {best.curve.length > 1 && <Picture picture={sparkline(best.curve, { title: null })} />}
      {formatValue(best.return_mean)}
    </span>
  )
}

/** 0 to 100, as a number and a bar. */
function Quality({ score }: { score: number }) {
  return (
    <span class="quality">
      <span class="visually-hidden">Quality </span>
      {score}
      <svg class="quality-bar" viewBox="0 0 100 4" width="40" height="4" preserveAspectRatio="none" aria-hidden="true">
        <rect class="quality-bar-rest" width="100" height="4" />
        <rect class="quality-bar-score" width={score} height="4" />
      </svg>
    </span>
  )
}

/** Thumbnail of a package's latest version. */
export function PackagePicture({ name, version }: { name: ListedPackage['name']; version: string | null }) {
  return (
    <div class="package-picture" aria-hidden="true">
      {version === null ? (
        <Picture picture={emblem(name)} />
      ) : (
        <img src={pictureAddress(name, version)} alt="" width="320" height="240" loading="lazy" decoding="async" />
      )}
    </div>
  )
}

/** Path of a package's page: `/packages/@acme/cart-pole`. */
export function packageAddress(name: string): string {
  const [scope, base] = name.split('/')
  return `/packages/${scope}/${base}`
}

/** URL of a version's thumbnail, four by three. */
function pictureAddress(name: string, version: string): string {
  const [scope, base] = name.split('/')
  return `/pictures/${scope}/${base}/${encodeURIComponent(version)}`
}
