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
import { resolvePackage } from '../packages/resolve-package.ts'
import { readVersion } from '../packages/upload-package.ts'
import type { PackageTarget } from '../registry/package-target.ts'
import { callApi } from '../registry/registry-api.ts'
import { checkLines } from '../terminal/check-lines.ts'
import { fieldLines } from '../terminal/field-lines.ts'
import { fitText, wrapText } from '../terminal/fit-text.ts'
import { formatBytes, formatCount } from '../terminal/format-figures.ts'
import { formatPrice } from '../terminal/format-price.ts'
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
  const connection = await findConnection()
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
  const tags = Object.entries(page.tags).map(([tag, version]) => `${tag} ${version}`)
  const pairs: [string, string][] = [
    ['kind', page.kind],
    ['publisher', page.owner.username],
    ['visibility', page.visibility],
    ['price', formatPrice(page.price_minor)],
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
  const parts = quality.parts.map(({ id, points, of, why }): [string, string] => [id, `${points} of ${of}: ${why}`])
  return [
    paint.bold(fitText(safeText(name, 240), width, symbols.ellipsis)),
    ...wrapText(safeText(`${page.title ?? ''}: ${page.summary ?? ''}`, 400), width),
    ...fieldLines(pairs, terminal),
    ...standingLines(standing, terminal),
    `Quality ${quality.score} of 100`,
    ...(parts.length > 0 ? fieldLines(parts, terminal) : []),
    `${symbols.next} Install it: ${paint.accent(`agentgym install ${shellQuote(page.name)}`)}`,
  ]
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
