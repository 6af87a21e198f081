import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type PackageTarget, parsePackageTarget } from '@agentgym/agent/packages'
import { packagePath } from '@agentgym/client'
import {
  type AgentManifest,
  type AgentParent,
  type Leaderboard,
  type PackagePage,
  packagePageSchema,
  type ScenarioPackage,
  type SpaceDescription,
  type Verification,
  type VersionDetails,
} from '@agentgym/contract'
import { packageKind, readScenarioPackage } from '@agentgym/runtime/scenario-package'
import type { Command } from 'commander'
import { type Connection, findConnection } from '../account/connection.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { listedPriceText } from '../market/price-text.ts'
import { readVersion } from '../packages/publish-package.ts'
import { callApi } from '../registry/call-api.ts'
import { resolvePackage } from '../registry/package-target.ts'
import { resolveAgentFolder } from '../targets/agents.ts'
import { findBuiltIn, findLocalScenario, resolveScenarioFolder, unscopedName } from '../targets/scenarios.ts'
import { formatBytes, formatCount, formatValue } from '../terminal/format-values.ts'
import { checkLines, fieldLines } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { fitText, safeText, shellQuote, wrapText } from '../terminal/text.ts'
import { evaluationLines } from '../training-view/summary-lines.ts'
import { leaderboardLines, readLeaderboard, verificationLines } from '../verification/server-verification.ts'
import { successText } from './list.ts'

export function addInfoCommand(program: Command, action: MakeAction): void {
  program
    .command('info')
    .argument('<TARGET>', 'scenario folder, built-in name, agent folder or @scope/name[@version]')
    .description('show a scenario, an agent or a package of the registry')
    .action(action(info))
}

/** `agentgym info`: the manifest of a scenario or of an agent, or a package of the registry. */
export async function info(target: string, context: CommandContext): Promise<void> {
  if (await isAgent(context.resolve(target))) return agentInfo(await resolveAgentFolder(target, context), context)
  const published = parsePackageTarget(target)
  if (published && (await findLocalScenario(target, context)) === undefined) return packageInfo(published, context)
  const folder = await resolveScenarioFolder(target, context)
  const manifest = readScenarioPackage(folder)
  context.printJson({
    kind: 'scenario',
    name: manifest.name,
    version: manifest.version,
    folder,
    manifest: scenarioFields(manifest),
  })
  const builtIn = (await findBuiltIn(manifest.name))?.folder === folder
  const trainTarget = builtIn ? unscopedName(manifest.name) : shellQuote(context.displayPath(folder))
  for (const line of scenarioLines(manifest, context.displayPath(folder), trainTarget, context.terminal))
    context.print(line)
}

async function isAgent(folder: string): Promise<boolean> {
  return existsSync(join(folder, 'agent.json')) || packageKind(folder) === 'agent'
}

// The author's own fields of package.json (scripts, keywords, …) are not part of the manifest.
function scenarioFields({ name, version, license, agentgym }: ScenarioPackage): Record<string, unknown> {
  return { name, version, license, agentgym }
}

async function agentInfo(folder: string, context: CommandContext): Promise<void> {
  const runtime = await context.runtime()
  const manifest = await runtime.readAgent(folder)
  context.printJson({ kind: 'agent', folder, manifest })
  for (const line of agentLines(manifest, context.displayPath(folder), context.terminal)) context.print(line)
}

function scenarioLines(manifest: ScenarioPackage, folder: string, trainTarget: string, terminal: Terminal): string[] {
  const { paint, symbols } = terminal
  const { agentgym } = manifest
  const width = Math.min(terminal.columns(), 100)
  return [
    paint.bold(fitText(safeText(`${manifest.name}@${manifest.version}`, 240), width, symbols.ellipsis)),
    ...wrapText(safeText(`${agentgym.title}: ${agentgym.summary}`, 400), width),
    ...fieldLines(
      [
        ['kind', 'scenario'],
        ['folder', folder],
        ['entry', agentgym.entry],
        ['category', agentgym.category],
        ['difficulty', agentgym.difficulty],
        ['license', manifest.license ?? '-'],
        ['success', successText(agentgym.success)],
        ...Object.entries(agentgym.training).map(([name, value]): [string, string] => [
          `training.${name}`,
          settingText(value),
        ]),
      ],
      terminal,
    ),
    `${symbols.next} Train on it: ${paint.accent(`agentgym train ${trainTarget}`)}`,
  ]
}

function agentLines(manifest: AgentManifest, folder: string, terminal: Terminal): string[] {
  const { paint, symbols } = terminal
  const { scenario, policy, parent } = manifest
  const normalised = policy.normalizeObservation ? ', observations normalized' : ''
  return [
    paint.bold(safeText(folder, 240)),
    ...evaluationLines(manifest.evaluation, terminal),
    // Short names, so that a hash fits on one line of 80 columns.
    ...fieldLines(
      [
        ['kind', 'agent'],
        ['scenario', `${scenario.name}@${scenario.version}`],
        ...(parent === undefined ? [] : parentFields(parent)),
        ['bundle', scenario.hash],
        ['observation', describeSpace(scenario.observation)],
        ['action', describeSpace(scenario.action)],
        ['success', successText(scenario.success)],
        ['algorithm', manifest.algorithm],
        ['seed', String(manifest.seed)],
        ['steps', formatCount(manifest.steps)],
        ['policy', `${policy.hidden.join('-') || 'linear'} ${policy.activation}${normalised}`],
        ['model', manifest.model_hash],
      ],
      terminal,
    ),
    'Settings',
    ...fieldLines(
      Object.entries(manifest.settings).map(([name, value]) => [name, settingText(value)]),
      terminal,
    ),
    'Versions',
    ...fieldLines(Object.entries(manifest.runtime), terminal),
    `${symbols.next} Evaluate it: ${paint.accent(`agentgym eval ${shellQuote(folder)}`)}`,
  ]
}

function parentFields({ name, version, license, model_hash }: AgentParent): [string, string][] {
  return [
    ['parent', `${name}@${version}, ${license === null ? 'no license' : `license ${license}`}`],
    ['its model', model_hash],
  ]
}

function settingText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '-')
}

/** `box [4]`, `discrete 2 (left, right)`, `dict {name: box [2]}`. */
function describeSpace(space: SpaceDescription): string {
  switch (space.type) {
    case 'box':
      if (space.shape.length === 0)
        return `${space.integer ? 'integer' : 'number'} from ${space.low[0]} to ${space.high[0]}`
      return `box [${space.shape.join(', ')}], bounds ${bounds(space.low)} to ${bounds(space.high)}`
    case 'discrete':
      if (space.list !== undefined) return `item of ${space.list}`
      return `discrete ${space.n}${space.start ? ` from ${space.start}` : ''}${space.labels ? ` (${space.labels.join(', ')})` : ''}`
    case 'multiDiscrete':
      return `multi-discrete [${space.nvec.join(', ')}]`
    case 'text':
      return `text, at most ${formatCount(space.maxTokens)} tokens of ${formatCount(space.vocabulary)}`
    case 'list':
      return `list of up to ${space.slots} items of ${space.features} numbers`
    case 'dict':
      return `dict {${space.entries.map((entry) => `${entry.name}: ${describeSpace(entry.space)}`).join('; ')}}`
  }
}

function bounds(values: (number | null)[]): string {
  const distinct = [...new Set(values)]
  if (distinct.length === 1) return distinct[0] === null ? 'none' : formatValue(distinct[0])
  return `[${values
    .slice(0, 8)
    .map((value) => (value === null ? 'none' : formatValue(value)))
    .join(', ')}${values.length > 8 ? ', …' : ''}]`
}

/** Rows of the leaderboard on a scenario's page. */
const bestShown = 5

/** `agentgym info @scope/name[@version]`: a package of the registry, or one of its versions. */
async function packageInfo(target: PackageTarget, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  if (target.range !== undefined) return versionInfo(connection, target.name, target.range, context)
  const page = await callApi(connection, { path: packagePath(target.name), answer: packagePageSchema })
  const status = page.latest_version === null ? {} : await readStatus(connection, page, page.latest_version)
  context.printJson({ ...page, ...status })
  if (context.json) return
  for (const line of pageLines(page, status, context.terminal)) context.print(line)
}

/** Evidence from the server: an agent's verification, or a scenario's best verified agents. */
type Status = { verification?: Verification | null; leaderboard?: Leaderboard }

async function readStatus(
  connection: Connection,
  { name, kind }: { name: string; kind: PackagePage['kind'] },
  version: string,
): Promise<Status> {
  if (kind === 'agent') return { verification: (await readVersion(connection, name, version)).verification }
  return { leaderboard: await readLeaderboard(connection, { name, version }, { limit: bestShown }) }
}

async function versionInfo(
  connection: Connection,
  name: string,
  range: string,
  context: CommandContext,
): Promise<void> {
  // Exact versions are not resolved: their publisher sees them while they are checked, or rejected.
  const version = /^\d+\.\d+\.\d+/.test(range) ? range : (await resolvePackage(connection, { name, range })).version
  const answer = await readVersion(connection, name, version)
  context.printJson(answer)
  if (context.json) return
  const isScenario = answer.state === 'published' && answer.bundle_hash !== null
  const board = isScenario ? await readStatus(connection, { name, kind: 'scenario' }, version) : {}
  const status = { verification: answer.verification, ...board }
  for (const line of versionLines(answer, status, context.terminal)) context.print(line)
}

function pageLines(page: PackagePage, status: Status, terminal: Terminal): string[] {
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
    ['published', latest?.published_at.slice(0, 10) ?? 'not published yet'],
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
    ...statusLines(status, terminal),
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

function statusLines({ verification, leaderboard }: Status, terminal: Terminal): string[] {
  if (leaderboard === undefined) return verification ? verificationLines(verification, terminal) : []
  if (leaderboard.entries.length === 0) return ['No verified agents yet']
  return ['Best verified agents', ...leaderboardLines(leaderboard, terminal)]
}

function versionLines(answer: VersionDetails, status: Status, terminal: Terminal): string[] {
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
    ...statusLines(status, terminal),
    ...answer.checks.flatMap((check) => checkLines(check, terminal)),
    state === 'published'
      ? `${symbols.next} Install it: ${paint.accent(`agentgym install ${shellQuote(label)}`)}`
      : `${symbols.next} ${state === 'rejected' ? 'Fix the failed checks and publish again under a new version.' : 'The server is still checking it. Try again in a moment.'}`,
  ]
}
