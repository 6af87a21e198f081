import { existsSync } from 'node:fs'
import { join } from 'node:path'
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
import { budgetWord, readAmount } from '../option-values.ts'
import { findLocked } from '../packages/lock-file.ts'
import { parsePackageTarget } from '../registry/package-target.ts'
import { readStatus, startRun } from '../runs/run-api.ts'
import { howToFollow, watchRunHere } from '../runs/watch-run-here.ts'
import { agentsFolder } from '../targets/agents.ts'
import { unscopedName } from '../targets/scenarios.ts'
import { confirm, sayWrapped } from '../terminal/prompts.ts'
import { safeText, shellQuote } from '../terminal/text.ts'
import { runLine } from '../training-view/line-views.ts'
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
  private?: boolean
  note?: string
  account?: string
  trajectories?: number
  yes?: boolean
}

/** `agentgym train --remote`: queues a run on the server's workers, and with `--watch` follows it and fetches the agent. */
export async function trainRemote(target: string, flags: RemoteFlags, context: CommandContext): Promise<void> {
  const scenario = await publishedTarget(target, context)
  const out = context.resolve(flags.out ?? join(agentsFolder, unscopedName(scenario.name)))
  if (flags.watch) await refuseTakenFolder(out, flags, context)
  const connection = await findConnection(context)
  const request = await requestOf(connection, `${scenario.name}${scenario.range ? `@${scenario.range}` : ''}`, flags)
  const run = await startAtPrice(connection, request, { yes: flags.yes ?? false }, context)
  if (run === undefined) return context.say('No run was started.')
  if (flags.watch) return watchRunHere(connection, run, { out, force: flags.force ?? false }, context)
  context.sayJson(runLine(run, 'submitted'))
  for (const line of submittedLines(run, context)) context.say(line)
  for (const line of howToFollow(run, context)) context.say(line)
}

/** A scenario of the registry, in the version of the lock file where that is what was asked for. */
async function publishedTarget(
  target: string,
  context: CommandContext,
): Promise<{ name: string; range: string | undefined }> {
  const published = parsePackageTarget(target)
  const here = existsSync(context.resolve(target))
  if (published !== undefined && !here) {
    const locked = await findLocked(published, context)
    return { name: published.name, range: locked?.version ?? published.range }
  }
  const shown = shellQuote(target)
  throw new AgentGymError({
    code: 'usage_invalid',
    message: here
      ? `${shown} is a folder of this machine, and the workers train on what is published`
      : `${shown} names no scenario of the registry`,
    hint: here
      ? `Publish it first, agentgym scenario publish ${shown}, and train on its name: agentgym train @you/name --remote.`
      : `Scenarios of the registry carry their publisher's scope, such as @acme/cart-pole; agentgym search finds them.`,
    data: { target: target.slice(0, 200) },
  })
}

/** Before the run costs anything: that its agent will have a place. Nothing is moved yet. */
async function refuseTakenFolder(out: string, flags: RemoteFlags, context: CommandContext): Promise<void> {
  if (flags.force) return
  const runtime = await context.runtime()
  try {
    await claimAgentFolder(out, { force: false, checkpoint: runtime.checkpointPath(out) }, context)
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    const { code, message, data } = error
    const hint = '--out DIR names another folder, --force moves what is there aside once the new agent has come.'
    throw new AgentGymError({ code, message, hint, data })
  }
}

async function requestOf(connection: Connection, scenario: string, flags: RemoteFlags): Promise<StartRunRequest> {
  const { algorithm, steps, seed, note, account: owner, trajectories } = flags
  const budget = flags.budget === undefined ? undefined : await budgetMinor(connection, flags.budget)
  return {
    scenario,
    algorithm,
    steps,
    seed,
    settings: settingsOf(flags),
    budget_minor: budget,
    publish: flags.publish === undefined ? undefined : await publishField(connection, flags.publish, flags),
    trajectories_every: trajectories,
    account: owner,
    note,
  }
}

/** As training here reads them; whether they are right is the server's to say. */
function settingsOf({ set = {} }: RemoteFlags): StartRunRequest['settings'] {
  return Object.fromEntries(Object.entries(set).map(([name, text]) => [name, settingValue(name, text)]))
}

async function budgetMinor(connection: Connection, text: string): Promise<number> {
  const { currency } = await readStatus(connection)
  return readAmount(text, currency, budgetWord)
}

/** `NAME[@VERSION]`; a name without a scope is one of the account that the run is for. */
async function publishField(
  connection: Connection,
  text: string,
  { account: owner, private: hidden }: RemoteFlags,
): Promise<StartRunRequest['publish']> {
  const scoped = text.startsWith('@') ? text : `@${owner ?? (await account(connection)).username}/${text}`
  const target = parsePackageTarget(scoped)
  if (target === undefined) {
    throw new AgentGymError({
      code: 'name_invalid',
      message: `--publish is ${JSON.stringify(text.slice(0, 200))}, which is no name of a package`,
      hint: 'Write it as @you/name, or @you/name@1.0.0 with a version of your choice.',
      data: { field: 'publish' },
    })
  }
  return { name: target.name, version: target.range, visibility: hidden ? 'private' : undefined }
}

function submittedLines(run: Run, { terminal }: CommandContext): string[] {
  const { paint } = terminal
  const { name, version } = run.scenario
  const { budget_minor: budget, currency } = run.cost
  const limit = budget === null ? 'no limit on what it may cost' : `at most ${formatAmount(budget, currency)}`
  const what = safeText(`${name}@${version}`, 240)
  return [
    `${terminal.symbols.next} Train on ${paint.bold(what)} with ${safeText(run.algorithm, 20)}, seed ${run.seed}, ${limit}`,
    `  ${paint.dim(run.ahead ? `${run.ahead} ahead in the queue` : 'next in the queue')}`,
  ]
}

const askedPriceSchema = priceSchema.pick({ id: true, kind: true, amount_minor: true, currency: true })

/**
 * Queues a run. Where the scenario is paid for by the run, says what it costs and asks first; then it is started at that price
 * or not at all. Undefined where the user says no.
 */
async function startAtPrice(
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
    sayWrapped(
      `${request.scenario} costs ${cost}, beside what its worker costs. It is held on the balance now, paid once the run trains, and free again if it ends before that.`,
      context,
    )
    const consent = {
      given: yes,
      question: `Train on it for ${cost}?`,
      otherwise: '--yes starts it without asking, at the price that holds now',
    }
    if (!(await confirm(consent, context))) return undefined
    const { id, amount_minor } = price
    return startRun(connection, { ...request, expected_price: { id, amount_minor } })
  }
}

/** What the server says a run costs whose price was not confirmed. */
function priceByRun(error: unknown): Pick<Price, 'id' | 'kind' | 'amount_minor' | 'currency'> | undefined {
  if (!(error instanceof AgentGymError) || error.code !== 'payment_required') return undefined
  const price = askedPriceSchema.safeParse(error.data.price).data
  return price?.kind === 'per_run' ? price : undefined
}
