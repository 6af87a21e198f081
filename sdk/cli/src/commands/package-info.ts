import { packagePath } from '@agentgym/client'
import {
  type Leaderboard,
  type PackagePage,
  packagePageSchema,
  type Verification,
  type VersionDetails,
} from '@agentgym/contract'
import { type Connection, findConnection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { listedPriceText } from '../market/price-text.ts'
import { resolvePackage } from '../packages/resolve-package.ts'
import { readVersion } from '../packages/upload-package.ts'
import type { PackageTarget } from '../registry/package-target.ts'
import { callApi } from '../registry/registry-api.ts'
import { checkLines } from '../terminal/check-lines.ts'
import { fieldLines } from '../terminal/field-lines.ts'
import { fitText, wrapText } from '../terminal/fit-text.ts'
import { formatBytes, formatCount } from '../terminal/format-figures.ts'
import { safeText } from '../terminal/safe-text.ts'
import { shellQuote } from '../terminal/shell-quote.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { leaderboardLines } from '../verification/leaderboard-lines.ts'
import { readLeaderboard } from '../verification/verification-api.ts'
import { verificationLines } from '../verification/verification-lines.ts'

/** Places of the leaderboard on a scenario's page. */
const bestShown = 5

/** `agentgym info @scope/name[@version]`: what the registry says of a package, or of one of its versions. */
export async function packageInfo(target: PackageTarget, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  if (target.range !== undefined) return versionInfo(connection, target.name, target.range, context)
  const page = await callApi(connection, { path: packagePath(target.name), answer: packagePageSchema })
  const standing = page.latest_version === null ? {} : await standingOf(connection, page, page.latest_version)
  context.sayJson({ ...page, ...standing })
  if (context.json) return
  for (const line of pageLines(page, standing, context.terminal)) context.say(line)
}

/** What speaks for a package beside its own words: an agent's verification, a scenario's best verified agents. */
type Standing = { verification?: Verification | null; leaderboard?: Leaderboard }

async function standingOf(
  connection: Connection,
  { name, kind }: { name: string; kind: PackagePage['kind'] },
  version: string,
): Promise<Standing> {
  if (kind === 'agent') return { verification: (await readVersion(connection, name, version)).verification }
  return { leaderboard: await readLeaderboard(connection, { name, version }, { limit: bestShown }) }
}

async function versionInfo(
  connection: Connection,
  name: string,
  range: string,
  context: CommandContext,
): Promise<void> {
  // An exact version is asked for as it is: its publisher sees it while it is checked, or rejected.
  const version = /^\d+\.\d+\.\d+/.test(range) ? range : (await resolvePackage(connection, { name, range })).version
  const answer = await readVersion(connection, name, version)
  context.sayJson(answer)
  if (context.json) return
  const isScenario = answer.state === 'published' && answer.bundle_hash !== null
  const board = isScenario ? await standingOf(connection, { name, kind: 'scenario' }, version) : {}
  const standing = { verification: answer.verification, ...board }
  for (const line of versionLines(answer, standing, context.terminal)) context.say(line)
}

function pageLines(page: PackagePage, standing: Standing, terminal: Terminal): string[] {
  const { paint, symbols } = terminal
  const { latest, quality } = page
  const width = Math.min(terminal.columns(), 100)
  const name = page.latest_version === null ? page.name : `${page.name}@${page.latest_version}`
  const { taken_down: takenDown } = page
  const tags = Object.entries(page.tags).map(([tag, version]) => `${tag} ${version}`)
  const pairs: [string, string][] = [
    ['kind', page.kind],
    ['publisher', page.owner.username],
    ['visibility', page.visibility],
    ['price', listedPriceText(page)],
    ...ratingPairs(page),
    ['category', page.category ?? '-'],
    ['difficulty', page.difficulty ?? '-'],
    ['license', latest?.license ?? '-'],
    ['published', latest?.published_at.slice(0, 10) ?? 'no version yet'],
    ['versions', `${formatCount(page.versions_count)}${tags.length > 0 ? `; ${tags.join(', ')}` : ''}`],
    ['downloads', formatCount(page.downloads)],
  ]
  if (latest !== null) {
    pairs.push(['size', `${formatBytes(latest.size)}, ${formatBytes(latest.unpacked_size)} unpacked`])
    pairs.push(['integrity', latest.integrity])
    if (latest.deprecated !== null) pairs.push(['deprecated', latest.deprecated])
  }
  if (takenDown !== null) {
    pairs.unshift([
      'taken down',
      `${takenDown.at.slice(0, 10)}${takenDown.reason === null ? '' : `: ${takenDown.reason}`}`,
    ])
  }
  const parts = quality.parts.map(({ id, points, of, why }): [string, string] => [id, `${points} of ${of}: ${why}`])
  return [
    paint.bold(fitText(safeText(name, 240), width, symbols.ellipsis)),
    ...wrapText(safeText(`${page.title ?? ''}: ${page.summary ?? ''}`, 400), width),
    ...fieldLines(pairs, terminal),
    ...standingLines(standing, terminal),
    `Quality ${quality.score} of 100`,
    ...(parts.length > 0 ? fieldLines(parts, terminal) : []),
    nextLine(page, terminal),
  ]
}

function ratingPairs({ rating, votes }: PackagePage): [string, string][] {
  if (rating === null) return []
  return [['rating', `${rating.toFixed(1)} of 5 by ${formatCount(votes)} ${votes === 1 ? 'user' : 'users'}`]]
}

function nextLine({ name, price_minor, price_kind }: PackagePage, { paint, symbols }: Terminal): string {
  const shown = shellQuote(name)
  const [what, command] =
    price_minor === 0
      ? ['Install it', `agentgym install ${shown}`]
      : price_kind === 'per_run'
        ? ['Train on it', `agentgym train ${shown} --remote`]
        : ['Buy it', `agentgym buy ${shown}`]
  return `${symbols.next} ${what}: ${paint.accent(command)}`
}

function standingLines({ verification, leaderboard }: Standing, terminal: Terminal): string[] {
  if (leaderboard === undefined) return verification ? verificationLines(verification, terminal) : []
  if (leaderboard.entries.length === 0) return ['No agent of it is verified yet']
  return ['Best verified agents', ...leaderboardLines(leaderboard, terminal)]
}

function versionLines(answer: VersionDetails, standing: Standing, terminal: Terminal): string[] {
  const { paint, symbols } = terminal
  const { name, version, state } = answer
  const pairs: [string, string][] = [
    ['state', `${state}${answer.yanked ? ', yanked' : ''}`],
    ['integrity', answer.integrity],
  ]
  if (answer.deprecated) pairs.push(['deprecated', answer.deprecated])
  const label = `${name}@${version}`
  return [
    paint.bold(safeText(label, 240)),
    ...fieldLines(pairs, terminal),
    ...standingLines(standing, terminal),
    ...answer.checks.flatMap((check) => checkLines(check, terminal)),
    state === 'published'
      ? `${symbols.next} Install it: ${paint.accent(`agentgym install ${shellQuote(label)}`)}`
      : `${symbols.next} ${state === 'rejected' ? 'Mend what failed, raise the version and publish again.' : 'The server is checking it; ask again in a moment.'}`,
  ]
}
