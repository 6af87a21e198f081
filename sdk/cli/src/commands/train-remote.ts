import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findLocked, parsePackageTarget } from '@agentgym/agent/packages'
import {
  AgentGymError,
  formatAmount,
  type Price,
  priceSchema,
  type Run,
  type StartRunRequest,
  settingValue,
} from '@agentgym/contract'
import { type Connection, findConnection } from '../account/connection.ts'
import { account } from '../account/log-in.ts'
import type { CommandContext } from '../command-context.ts'
import { priceText } from '../market/price-text.ts'
import { budgetOption, readAmount } from '../option-values.ts'
import { readStatus, startRun } from '../runs/run-api.ts'
import { howToFollow, watchRunHere } from '../runs/watch-run-here.ts'
import { agentsFolder } from '../targets/agents.ts'
import { unscopedName } from '../targets/scenarios.ts'
import { confirm, printWrapped } from '../terminal/prompts.ts'
import { safeText, shellQuote } from '../terminal/text.ts'
import { runLine } from '../training-view/line-views.ts'
import { parentText } from '../training-view/run-state.ts'
import { claimAgentFolder } from './agent-folder.ts'

export type RemoteFlags = {
  algorithm?: string
  steps?: number
  seed?: number
  out?: string
  set?: Record<string, string>
  force?: boolean
  watch?: boolean
  budget?: string
  publish?: string
  summary?: string
  private?: boolean
  note?: string
  account?: string
  trajectories?: number
  from?: string
  yes?: boolean
  /** Only a worker with a GPU trains the run, of `gpuMemory` GB at least. */
  needsGpu?: boolean
  gpuMemory?: number
  workers?: number
}

type RemoteRun = { connection: Connection; request: StartRunRequest; out: string; scenario: string }

/** What a remote run is started with; nothing is started yet. */
export async function prepareRemote(target: string, flags: RemoteFlags, context: CommandContext): Promise<RemoteRun> {
  const scenario = await publishedTarget(target, 'scenario', context)
  const from = flags.from === undefined ? undefined : await publishedTarget(flags.from, 'agent', context)
  const out = context.resolve(flags.out ?? join(agentsFolder, unscopedName(scenario.name)))
  if (flags.watch) await refuseTakenFolder(out, flags, context)
  const connection = await findConnection(context)
  const request = await requestOf(connection, { scenario: scenario.text, from: from?.text }, flags)
  return { connection, request, out, scenario: scenario.name }
}

/** `agentgym train --remote`: queues a run on the server; with `--watch`, follows it and downloads the agent. */
export async function trainRemote(target: string, flags: RemoteFlags, context: CommandContext): Promise<void> {
  const { connection, request, out } = await prepareRemote(target, flags, context)
  const run = await startAtPrice(connection, request, { yes: flags.yes ?? false }, context)
  if (run === undefined) return context.print('Canceled. No run was started.')
  if (flags.watch) return watchRunHere(connection, run, { out, force: flags.force ?? false }, context)
  context.printJson(runLine(run, 'submitted'))
  for (const line of submittedLines(run, context)) context.print(line)
  for (const line of howToFollow(run, context)) context.print(line)
}

/** What to call a package that a remote run needs, and how to publish and find one. */
const publishing = {
  scenario: {
    needs: 'remote runs need a published scenario',
    publish: (shown: string) =>
      `Publish it with agentgym scenario publish ${shown}, then train on its name: agentgym train @you/name --remote`,
    find: 'Use the form @scope/name, such as @acme/cart-pole. Find scenarios with agentgym search.',
  },
  agent: {
    needs: 'remote runs start from a published agent',
    publish: (shown: string) =>
      `Publish it with agentgym agent publish ${shown} --name @you/name --summary TEXT, then start from its name: --from @you/name`,
    find: 'Use the form @scope/name, such as @acme/cart-pole-ppo. An agent on this machine must be published first: agentgym agent publish DIR --name @you/name --summary TEXT',
  },
}

/** A package of the registry, in the locked version if that satisfies the requested range; `text` is `name[@range]`. */
export async function publishedTarget(
  target: string,
  kind: keyof typeof publishing,
  context: CommandContext,
): Promise<{ name: string; text: string }> {
  const published = parsePackageTarget(target)
  const here = existsSync(context.resolve(target))
  if (published !== undefined && !here) {
    const locked = await findLocked(published, context.io)
    const range = locked?.version ?? published.range
    return { name: published.name, text: range ? `${published.name}@${range}` : published.name }
  }
  const shown = shellQuote(target)
  throw new AgentGymError({
    code: 'usage_invalid',
    message: here
      ? `${shown} is a local folder; ${publishing[kind].needs}`
      : `${shown} is not a package of the registry; ${publishing[kind].needs}`,
    hint: here ? publishing[kind].publish(shown) : publishing[kind].find,
    data: { target: target.slice(0, 200) },
  })
}

/** Fails before the run costs anything if the agent could not be written. Moves nothing yet. */
async function refuseTakenFolder(out: string, flags: RemoteFlags, context: CommandContext): Promise<void> {
  if (flags.force) return
  const runtime = await context.runtime()
  try {
    await claimAgentFolder(out, { force: false, checkpoint: runtime.checkpointPath(out) }, context)
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    const { code, message, data } = error
    const hint = 'Choose another folder with --out DIR, or move the existing one aside with --force.'
    throw new AgentGymError({ code, message, hint, data })
  }
}

async function requestOf(
  connection: Connection,
  packages: Pick<StartRunRequest, 'scenario' | 'from'>,
  flags: RemoteFlags,
): Promise<StartRunRequest> {
  const { algorithm, steps, seed, note, account: owner, trajectories } = flags
  const budget = flags.budget === undefined ? undefined : await budgetMinor(connection, flags.budget)
  return {
    ...packages,
    algorithm,
    steps,
    seed,
    settings: settingsOf(flags),
    ...gpuFields(flags),
    workers: flags.workers,
    budget_minor: budget,
    publish: flags.publish === undefined ? undefined : await publishField(connection, flags.publish, flags),
    trajectories_every: trajectories,
    account: owner,
    note,
  }
}

function gpuFields({ needsGpu = false, gpuMemory }: RemoteFlags): Pick<StartRunRequest, 'gpu'> {
  return needsGpu ? { gpu: { memory_gb: gpuMemory } } : {}
}

/** Parsed like those of local training; the server validates them. */
function settingsOf({ set = {} }: RemoteFlags): StartRunRequest['settings'] {
  return Object.fromEntries(Object.entries(set).map(([name, text]) => [name, settingValue(name, text)]))
}

async function budgetMinor(connection: Connection, text: string): Promise<number> {
  const { currency } = await readStatus(connection)
  return readAmount(text, currency, budgetOption)
}

/** `NAME[@VERSION]`; a name without a scope gets that of the account that owns the run. */
async function publishField(
  connection: Connection,
  text: string,
  { account: owner, private: hidden, summary }: RemoteFlags,
): Promise<StartRunRequest['publish']> {
  const scoped = text.startsWith('@') ? text : `@${owner ?? (await account(connection)).username}/${text}`
  const target = parsePackageTarget(scoped)
  if (target === undefined) {
    throw new AgentGymError({
      code: 'name_invalid',
      message: `--publish is ${JSON.stringify(text.slice(0, 200))}, which is not a package name`,
      hint: 'Use the form @you/name or @you/name@1.0.0.',
      data: { field: 'publish' },
    })
  }
  return { name: target.name, version: target.range, visibility: hidden ? 'private' : undefined, summary }
}

function submittedLines(run: Run, { terminal }: CommandContext): string[] {
  const { paint } = terminal
  const { name, version } = run.scenario
  const { budget_minor: budget, currency } = run.cost
  const limit = budget === null ? 'no budget limit' : `budget ${formatAmount(budget, currency)}`
  const what = safeText(`${name}@${version}`, 240)
  return [
    `${terminal.symbols.next} Training on ${paint.bold(what)} with ${safeText(run.algorithm, 20)}, seed ${run.seed}, ${limit}`,
    ...(run.parent ? [`  ${paint.dim('Starting from')} ${safeText(parentText(run.parent), 240)}`] : []),
    ...(run.unserved ? [`${terminal.symbols.warning} ${safeText(run.unserved, 300)}`] : []),
    `  ${paint.dim(run.ahead ? `${run.ahead} ahead in the queue` : 'next in the queue')}`,
  ]
}

const confirmablePriceSchema = priceSchema.pick({ id: true, kind: true, amount_minor: true, currency: true })

/**
 * Queues a run. If the scenario is paid per run, shows the price and asks for confirmation first; the run then starts at
 * that price or not at all. Undefined when the user declines.
 */
export async function startAtPrice(
  connection: Connection,
  request: StartRunRequest,
  { yes }: { yes: boolean },
  context: CommandContext,
): Promise<Run | undefined> {
  try {
    return await startRun(connection, request)
  } catch (error) {
    const price = priceByRun(error)
    if (price === undefined) throw error
    const cost = priceText(price)
    printWrapped(
      `${request.scenario} costs ${cost}, plus the price of its worker. The amount is held on your balance, charged when training starts, and released if the run ends before that.`,
      context,
    )
    const consent = {
      given: yes,
      question: `Start a run for ${cost}?`,
      otherwise: 'Use --yes to accept the current price',
    }
    if (!(await confirm(consent, context))) return undefined
    const { id, amount_minor } = price
    return startRun(connection, { ...request, expected_price: { id, amount_minor } })
  }
}

/** The price in the server's error for a run whose price was not confirmed. */
function priceByRun(error: unknown): Pick<Price, 'id' | 'kind' | 'amount_minor' | 'currency'> | undefined {
  if (!(error instanceof AgentGymError) || error.code !== 'payment_required') return undefined
  const price = confirmablePriceSchema.safeParse(error.data.price).data
  return price?.kind === 'per_run' ? price : undefined
}
