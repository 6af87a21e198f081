import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentManifest, ScenarioPackage, SpaceDescription } from '@agentgym/contract'
import type { CommandContext } from '../command-context.ts'
import { parsePackageTarget } from '../registry/package-target.ts'
import { findBuiltIn, unscopedName } from '../targets/built-in-scenarios.ts'
import { packageKind, readScenarioPackage } from '../targets/read-scenario-package.ts'
import { resolveAgentFolder } from '../targets/resolve-agent.ts'
import { findLocalScenario, resolveScenarioFolder } from '../targets/resolve-scenario.ts'
import { fieldLines } from '../terminal/field-lines.ts'
import { fitText, wrapText } from '../terminal/fit-text.ts'
import { formatCount, formatValue } from '../terminal/format-figures.ts'
import { safeText } from '../terminal/safe-text.ts'
import { shellQuote } from '../terminal/shell-quote.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { evaluationLines } from '../training-view/evaluation-lines.ts'
import { successText } from './list.ts'
import { packageInfo } from './package-info.ts'

/** `agentgym info`: the manifest of a scenario (a folder or a built-in name) or of an agent's folder; else the registry's page. */
export async function info(target: string, context: CommandContext): Promise<void> {
  if (await isAgent(context.resolve(target))) return agentInfo(await resolveAgentFolder(target, context), context)
  const published = parsePackageTarget(target)
  if (published && (await findLocalScenario(target, context)) === undefined) return packageInfo(published, context)
  const folder = await resolveScenarioFolder(target, context)
  const manifest = await readScenarioPackage(folder)
  context.sayJson({
    kind: 'scenario',
    name: manifest.name,
    version: manifest.version,
    folder,
    manifest: scenarioFields(manifest),
  })
  const builtIn = (await findBuiltIn(manifest.name))?.folder === folder
  const trainTarget = builtIn ? unscopedName(manifest.name) : shellQuote(context.displayPath(folder))
  for (const line of scenarioLines(manifest, context.displayPath(folder), trainTarget, context.terminal))
    context.say(line)
}

async function isAgent(folder: string): Promise<boolean> {
  return existsSync(join(folder, 'agent.json')) || (await packageKind(folder)) === 'agent'
}

// The author's own fields of package.json (scripts, keywords, …) are not part of the manifest.
function scenarioFields({ name, version, license, agentgym }: ScenarioPackage): Record<string, unknown> {
  return { name, version, license, agentgym }
}

async function agentInfo(folder: string, context: CommandContext): Promise<void> {
  const runtime = await context.runtime()
  const manifest = await runtime.readAgent(folder)
  context.sayJson({ kind: 'agent', folder, manifest })
  for (const line of agentLines(manifest, context.displayPath(folder), context.terminal)) context.say(line)
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
  const { scenario, policy } = manifest
  const normalised = policy.normalizeObservation ? ', observations normalised' : ''
  return [
    paint.bold(safeText(folder, 240)),
    ...evaluationLines(manifest.evaluation, terminal),
    // Names short enough for a hash to stand unbroken on 80 columns.
    ...fieldLines(
      [
        ['kind', 'agent'],
        ['scenario', `${scenario.name}@${scenario.version}`],
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
    'Made with',
    ...fieldLines(Object.entries(manifest.runtime), terminal),
    `${symbols.next} Evaluate it again: ${paint.accent(`agentgym eval ${shellQuote(folder)}`)}`,
  ]
}

function settingText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '-')
}

/** `box [4]`, `discrete 2 (left, right)`, `dict {name: box [2]}`. */
function describeSpace(space: SpaceDescription): string {
  switch (space.type) {
    case 'box':
      return `box [${space.shape.join(', ')}], bounds ${bounds(space.low)} to ${bounds(space.high)}`
    case 'discrete':
      return `discrete ${space.n}${space.start ? ` from ${space.start}` : ''}${space.labels ? ` (${space.labels.join(', ')})` : ''}`
    case 'multiDiscrete':
      return `multi-discrete [${space.nvec.join(', ')}]`
    case 'text':
      return `text, at most ${formatCount(space.maxTokens)} tokens of ${formatCount(space.vocabulary)}`
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
