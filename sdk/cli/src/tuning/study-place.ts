import { randomUUID } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { AgentGymError, formatAmount, scenarioPackageSchema } from '@agentgym/contract'
import { type Connection, findConnection } from '../account/connection.ts'
import type { CommandContext, Runtime } from '../command-context.ts'
import { publishedTarget } from '../commands/train-remote.ts'
import { readOffer } from '../market/market-api.ts'
import { priceText } from '../market/price-text.ts'
import { readAmount } from '../option-values.ts'
import { readVersion } from '../packages/publish-package.ts'
import { requirePackageTarget, resolvePackage } from '../registry/package-target.ts'
import { readStatus } from '../runs/run-api.ts'
import { findLocalScenario, obtainScenarioFolder } from '../targets/scenarios.ts'
import { formatCount } from '../terminal/format-values.ts'
import { confirm, printWrapped } from '../terminal/prompts.ts'
import { safeText } from '../terminal/text.ts'
import { warnOfMissingWalls } from '../walls.ts'
import type { StudyRun } from './run-study.ts'
import { ServerTrainer } from './server-trainer.ts'
import type { RemoteStudy, Study, StudyFolder } from './study-folder.ts'
import { type BuiltScenario, localTrainer, type StudyTrainer } from './study-trainer.ts'

/** Where a study trains, and the scenario as it is there. `hash` says whether it is still the same. */
type Machine = { remote: false; scenario: BuiltScenario; hash: string; source: string }
type Server = { remote: true; scenario: StudyRun['scenario']; hash: string; connection: Connection }
export type StudyPlace = Machine | Server

type PlaceFlags = { remote?: boolean; write?: boolean; account?: string; runBudget?: string; yes?: boolean }
type Parts = { runtime: Runtime; context: CommandContext }

/** This machine with a scenario of it, or a server with a published one. Throws what finding the scenario does. */
export function openPlace(target: string, flags: PlaceFlags, { runtime, context }: Parts): Promise<StudyPlace> {
  return flags.remote ? openServer(target, context) : openMachine(target, flags, { runtime, context })
}

async function openMachine(target: string, { write }: PlaceFlags, { runtime, context }: Parts): Promise<Machine> {
  await warnOfMissingWalls(context)
  const source = await obtainScenarioFolder(target, context)
  if (write) await requireOwnFolder(target, source, context)
  const scenario = await runtime.loadScenario(source)
  return { remote: false, scenario, hash: scenario.hash, source }
}

async function openServer(target: string, context: CommandContext): Promise<Server> {
  const { text } = await publishedTarget(target, 'scenario', context)
  const connection = await findConnection(context)
  const { name, version } = await resolvePackage(connection, requirePackageTarget(text))
  const { manifest, bundle_hash: hash } = await readVersion(connection, name, version)
  const parsed = scenarioPackageSchema.safeParse(manifest)
  if (parsed.success && hash !== null)
    return { remote: true, scenario: { package: { ...parsed.data, name, version } }, hash, connection }
  throw new AgentGymError({
    code: 'usage_invalid',
    message: `${safeText(`${name}@${version}`, 230)} is not a scenario`,
    hint: 'Tune the scenario that an agent was trained on: agentgym info NAME shows it.',
    data: { target: target.slice(0, 200) },
  })
}

type TrainerParts = { study: Study; folder: StudyFolder; runtime: Runtime; signal: AbortSignal }

/** A study goes on where it began. */
export function trainerOf(place: StudyPlace, { study, folder, runtime, signal }: TrainerParts): StudyTrainer {
  const { remote } = study
  const server = place.remote ? place.connection.server : undefined
  if (remote?.server !== server) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: remote ? `the study trains on ${safeText(remote.server)}` : 'the study trains on this machine',
      hint: remote
        ? `Resume it with --remote, logged in to that server (AGENTGYM_SERVER=${safeText(remote.server)}).`
        : 'Resume it without --remote, or start another study with --out DIR.',
      data: { path: folder.path },
    })
  }
  if (place.remote && remote !== undefined) return new ServerTrainer(place.connection, { study, remote, signal })
  if (!place.remote) return localTrainer({ study, folder, scenario: place.scenario, runtime, signal })
  throw new Error('a remote study has a server')
}

/** Jobs that the place can train at once, as it is now. */
export async function defaultParallel(place: StudyPlace): Promise<number> {
  if (!place.remote) return availableParallelism()
  const { workers } = await readStatus(place.connection)
  const slots = workers.filter(({ state }) => state !== 'silent').reduce((sum, worker) => sum + worker.slots, 0)
  return Math.min(64, Math.max(1, slots))
}

/** What is fixed of a remote study at its start; asks for consent where every run has a price. */
export async function remoteStudy(
  { connection, scenario }: Server,
  { budget, rungs, confirm: seeds, scenario: { name, version } }: Study,
  { account, runBudget, yes = false }: PlaceFlags,
  context: CommandContext,
): Promise<RemoteStudy> {
  const offer = await readOffer(connection, { name, range: version }, account)
  const { id, kind, amount_minor, currency } = offer.price
  const charged = kind === 'per_run' && !offer.entitled
  const most = Math.floor(budget / rungs[0]) + 2 * seeds
  if (charged) {
    const cost = priceText({ kind, amount_minor, currency })
    const total = formatAmount(most * amount_minor, currency)
    const question = `Start a study of up to ${formatCount(most)} runs, ${total} in all?`
    printWrapped(
      `${safeText(scenario.package.name, 214)} costs ${cost}, plus the price of its worker. A candidate is one run, however far it trains.`,
      context,
    )
    const consent = { given: yes, question, otherwise: 'Use --yes to accept the current price' }
    if (!(await confirm(consent, context)))
      throw new AgentGymError({ code: 'payment_required', message: 'the price was not accepted; no run was started' })
  }
  const budgetMinor = runBudget === undefined ? null : readAmount(runBudget, offer.price.currency, runBudgetOption)
  return {
    ...{ id: randomUUID(), server: connection.server, account: account ?? null, budget_minor: budgetMinor },
    price: charged ? { id, amount_minor } : null,
  }
}

const runBudgetOption = { name: '--run-budget', meaning: 'the spending limit of a run' }

/** `--write` changes the user's own folder, not a built-in scenario nor an installed package. */
async function requireOwnFolder(target: string, source: string, context: CommandContext): Promise<void> {
  const local = await findLocalScenario(target, context)
  if (local !== undefined && context.resolve(target) === source) return
  throw new AgentGymError({
    code: 'usage_invalid',
    message: '--write needs a scenario folder: a built-in or installed scenario is not changed',
    hint: 'Tune the folder of your scenario, such as agentgym tune ./my-scenario --write.',
    data: { target: target.slice(0, 200) },
  })
}
