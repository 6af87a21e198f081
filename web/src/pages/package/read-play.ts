import {
  AgentGymError,
  errorCatalog,
  type KeptEpisodeList,
  type Leaderboard,
  type Offer,
  type ScenarioView,
  scenarioViewSchema,
  type VersionDetails,
  verificationStatementSchema,
} from '@agentgym/contract'
import type { Visit } from '../../app/visit.ts'
import { type PackageView, readVersion, type VersionView } from './read-package.ts'

/** As many agents as a visitor will watch. */
const mostAgents = 3

export type PlayScenario = { name: string; version: string; hash: string; tarball: string; view: ScenarioView | null }

export type PlayAgent = {
  name: string
  version: string
  /** Mean return over held-out episodes; null while it is not verified. */
  score: number | null
  /** Null: the visitor may not have its files. */
  tarball: string | null
}

/** What a play page is about. */
export type PlayPage = {
  shown: VersionView
  /** Null: the visitor may not have the scenario's files; `offer` says why. */
  scenario: PlayScenario | null
  /** Of the scenario; null where it is not on this server. */
  offer: Offer | null
  agents: PlayAgent[]
  /** Mean return of random actions on the best agent's held-out episodes, where that was measured. */
  random: number | null
  /** What people reach on the scenario, and the visitor's own kept episodes; null where it cannot be played here. */
  kept: KeptEpisodeList | null
  /** Everyone's, for operators; else empty. */
  moderated: KeptEpisodeList['episodes']
}

/** Of a package with a published version. */
export async function readPlay(visit: Visit, view: PackageView, version: string): Promise<PlayPage> {
  const play = await readPlayed(visit, view, version)
  const { scenario } = play
  if (scenario === null) return { ...play, kept: null, moderated: [] }
  const [kept, all] = await Promise.all([
    absent(() => keptEpisodes(visit, scenario, 'own')),
    visit.account?.operator === true ? absent(() => keptEpisodes(visit, scenario, 'everyone')) : null,
  ])
  return { ...play, kept, moderated: all?.episodes ?? [] }
}

async function keptEpisodes(
  visit: Visit,
  { name, version }: PlayScenario,
  of: 'own' | 'everyone',
): Promise<KeptEpisodeList> {
  const params = { path: { ...pathParams(name), version }, query: { of } }
  return (await visit.api.GET('/v1/packages/{scope}/{name}/versions/{version}/demonstrations', { params })).data
}

type Played = Omit<PlayPage, 'kept' | 'moderated'>

async function readPlayed(visit: Visit, view: PackageView, version: string): Promise<Played> {
  const shown = await readVersion(visit, version)
  const { details } = shown
  if (details.agent === null) {
    const agents = await bestAgents(visit, details)
    return { shown, ...playable(details, view.offer), ...agents }
  }
  const { name, version: trainedOn } = details.agent.scenario
  const scenario = await absent(() => versionOf(visit, name, trainedOn))
  const offer = await absent(() => offerOf(visit, name))
  const agent = await playedAgent(visit, details.name, details.version, verifiedReturn(details))
  const played = scenario === null ? { scenario: null, offer } : playable(scenario, offer)
  return { shown, ...played, agents: [agent], random: randomReturn(details) }
}

function playable(details: VersionDetails, offer: Offer | null): Pick<PlayPage, 'scenario' | 'offer'> {
  const { name, version, bundle_hash: hash, tarball } = details
  if (offer?.entitled !== true || hash === null) return { scenario: null, offer }
  return { scenario: { name, version, hash, tarball: pathOf(tarball), view: viewIn(details) }, offer }
}

function viewIn({ manifest }: VersionDetails): ScenarioView | null {
  const read = scenarioViewSchema.safeParse(Object(manifest.agentgym).view)
  return read.success ? read.data : null
}

/** How the scenario of an agent is drawn; null where it does not say, or is not visible to the visitor. */
export async function viewOfScenario(visit: Visit, { agent }: VersionDetails): Promise<ScenarioView | null> {
  if (agent === null) return null
  const { name, version } = agent.scenario
  const details = await absent(() => versionOf(visit, name, version))
  return details === null ? null : viewIn(details)
}

async function bestAgents(
  visit: Visit,
  { name, version }: VersionDetails,
): Promise<Pick<PlayPage, 'agents' | 'random'>> {
  const path = '/v1/packages/{scope}/{name}/versions/{version}/leaderboard'
  const params = { path: { ...pathParams(name), version }, query: { limit: mostAgents } }
  const { data } = await visit.api.GET(path, { params })
  const entries: Leaderboard['entries'] = data?.entries ?? []
  const agents = await Promise.all(
    entries.map(({ agent, return_mean }) => playedAgent(visit, agent.name, agent.version, return_mean)),
  )
  const best = entries[0]?.agent
  const details = best === undefined ? null : await absent(() => versionOf(visit, best.name, best.version))
  return { agents, random: details === null ? null : randomReturn(details) }
}

async function playedAgent(visit: Visit, name: string, version: string, score: number | null): Promise<PlayAgent> {
  const offer = await absent(() => offerOf(visit, name))
  if (offer?.entitled !== true) return { name, version, score, tarball: null }
  const details = await absent(() => versionOf(visit, name, version))
  return { name, version, score, tarball: details === null ? null : pathOf(details.tarball) }
}

function heldOut({ verification }: VersionDetails) {
  try {
    const statement = verificationStatementSchema.safeParse(JSON.parse(verification?.signed?.statement ?? 'null'))
    return statement.success ? statement.data.held_out : null
  } catch {
    return null
  }
}

function verifiedReturn(details: VersionDetails): number | null {
  return heldOut(details)?.return_mean ?? null
}

function randomReturn(details: VersionDetails): number | null {
  return heldOut(details)?.baselines?.find(({ player }) => player === 'random')?.return_mean ?? null
}

/** Of an address of this server: pages load nothing from another host, as the server may be called by several names. */
function pathOf(address: string): string {
  return new URL(address).pathname
}

function pathParams(name: string): { scope: string; name: string } {
  const [scope, base] = name.split('/')
  return { scope, name: base }
}

async function versionOf(visit: Visit, name: string, version: string): Promise<VersionDetails> {
  const params = { path: { ...pathParams(name), version } }
  return (await visit.api.GET('/v1/packages/{scope}/{name}/versions/{version}', { params })).data
}

async function offerOf(visit: Visit, name: string): Promise<Offer> {
  return (await visit.api.GET('/v1/packages/{scope}/{name}/offer', { params: { path: pathParams(name) } })).data
}

/** What may be missing, or hidden from this visitor. */
async function absent<Value>(read: () => Promise<Value>): Promise<Value | null> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof AgentGymError && errorCatalog[error.code].status < 500) return null
    throw error
  }
}
