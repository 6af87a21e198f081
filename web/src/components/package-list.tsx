import type { ListedPackage } from '@agentgym/contract'
import { useIsland } from '../layout/page-context.ts'
import { sparkline } from '../pictures/learning-curve.ts'
import { Picture } from '../pictures/picture.tsx'
import { episodeAddress } from '../pictures/replay.tsx'
import { emblem } from '../pictures/thumbnail.ts'
import { Badge } from './badge.tsx'
import { Icon } from './icon.tsx'
import { Detail } from './metrics.tsx'
import { Outcome } from './outcome.tsx'
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
        <span>Best result</span>
        <span>Price</span>
        <span>Used</span>
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
      <PackagePicture name={item.name} version={item.latest_version} best={item.best_return} />
      <div class="package-row-main">
        <Heading class="package-row-name">
          <a href={packageAddress(item.name)}>{item.title ?? name}</a>
          {item.visibility === 'private' && <Icon name="lock" size={14} label="Private" />}
        </Heading>
        <p class="package-row-id">
          <span class="dim">{scope}/</span>
          {name}
          {item.trained_on && <span class="dim"> trained on {item.trained_on}</span>}
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
        <Detail label="Best result">
          <Best item={item} />
        </Detail>
        <Detail label="Price">
          <Price minor={item.price_minor} currency={item.currency} kind={item.price_kind} />
        </Detail>
        <Detail label="Used">
          <Uses item={item} />
        </Detail>
        <Detail label="Updated">
          <Time at={item.updated_at} />
        </Detail>
      </dl>
    </li>
  )
}

/** The best verified agent's result; of a scenario with its learning curve, for an agent's picture is its episode. */
function Best({ item: { kind, best_return: best } }: { item: ListedPackage }) {
  if (best === null) return <span class="dim">None yet</span>
  return (
    <span class="best-return" title={`${best.agent}, on held-out episodes`}>
      {kind === 'scenario' && best.curve.length > 1 && <Picture picture={sparkline(best.curve, { title: null })} />}
      <Outcome success={best.outcome} returnMean={best.return_mean} form="short" />
    </span>
  )
}

/** Downloads, trainings on this server and plays; without zeros. */
function Uses({ item: { downloads, trainings = 0, plays = 0 } }: { item: ListedPackage }) {
  const uses: [value: number, one: string][] = [
    [downloads, 'download'],
    [trainings, 'training'],
    [plays, 'play'],
  ]
  const shown = uses.filter(([value]) => value > 0)
  if (shown.length === 0) return null
  return (
    <span class="package-uses">
      {shown.map(([value, one]) => (
        <span>
          <Count value={value} /> <span class="dim">{value === 1 ? one : `${one}s`}</span>
        </span>
      ))}
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

type PackagePictureProps = {
  name: ListedPackage['name']
  version: string | null
  /** Of a scenario: its best verified agent. */
  best?: ListedPackage['best_return']
}

/** Thumbnail of a version, which plays its episode or that of the best agent. */
export function PackagePicture({ name, version, best = null }: PackagePictureProps) {
  useIsland('replay')
  const played = best?.recorded ? best : { agent: name, version }
  return (
    <div
      class="package-picture"
      aria-hidden="true"
      data-replay-card={played.version === null ? undefined : episodeAddress(played.agent, played.version)}
    >
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
