import {
  AgentGymError,
  type BestReturn,
  errorCatalog,
  type Offer,
  type PackagePage,
  type SampleEpisode,
  type SuccessCriteria,
  successCriteriaSchema,
  type VersionDetails,
} from '@agentgym/contract'
import type { Visit } from '../../app/visit.ts'

/** Data of every page of a package. */
export type PackageView = {
  page: PackagePage
  /** The offer of `latest` for this visitor; null if there is none. */
  offer: Offer | null
  /** Whether the visitor belongs to its owner. Only for the choice of buttons; the API decides. */
  member: boolean
}

/** A version with all details. */
export type VersionView = {
  details: VersionDetails
  /** The README, sanitized by the registry. */
  readmeHtml: string
  episode: SampleEpisode | null
  /** Of a scenario's latest version: its best verified agent. */
  bestAgent: BestReturn | null
}

/** Throws `package_not_found`. */
export async function readPackage(visit: Visit): Promise<PackageView> {
  const params = { path: packagePath(visit) }
  const [{ data: page }, offer] = await Promise.all([
    visit.api.GET('/v1/packages/{scope}/{name}', { params }),
    // No offer without a published version, or if it was taken down.
    absent(async () => (await visit.api.GET('/v1/packages/{scope}/{name}/offer', { params })).data),
  ])
  return { page, offer, member: belongsTo(visit, page.owner.username) }
}

/** A package with its latest version, or null, in one round trip. Throws `package_not_found`. */
export async function readFirstPage(visit: Visit): Promise<{ view: PackageView; shown: VersionView | null }> {
  const { data } = await visit.api.GET('/v1/packages/{scope}/{name}/view', { params: { path: packagePath(visit) } })
  const { page, offer, latest } = data
  const view = { page, offer, member: belongsTo(visit, page.owner.username) }
  if (latest === null) return { view, shown: null }
  const { details, episode, best_agent: bestAgent } = latest
  return { view, shown: { details, episode, bestAgent, readmeHtml: page.readme?.html ?? '' } }
}

/** Throws `package_not_found`, `package_taken_down`, `version_not_found`. */
export async function readVersion(visit: Visit, version: string): Promise<VersionView> {
  const params = { path: { ...packagePath(visit), version } }
  const base = '/v1/packages/{scope}/{name}/versions/{version}'
  const [details, readme, episode] = await Promise.all([
    visit.api.GET(base, { params }),
    visit.api.GET(`${base}/readme`, { params }),
    readSampleEpisode(visit, { name: `${params.path.scope}/${params.path.name}`, version }),
  ])
  return { details: details.data, readmeHtml: readme.data.html, episode, bestAgent: null }
}

/** A version's sample episode; null if it has none. */
export function readSampleEpisode(
  { api }: Visit,
  version: { name: string; version: string },
): Promise<SampleEpisode | null> {
  const [scope, name] = version.name.split('/')
  const params = { path: { scope, name, version: version.version } }
  const base = '/v1/packages/{scope}/{name}/versions/{version}'
  return absent(async () => (await api.GET(`${base}/sample-episode`, { params })).data)
}

/** Optional data: null if it is missing. */
async function absent<Value>(read: () => Promise<Value | undefined>): Promise<Value | null> {
  try {
    return (await read()) ?? null
  } catch (error) {
    if (error instanceof AgentGymError && errorCatalog[error.code].status < 500) return null
    throw error
  }
}

export function packagePath({ params: { scope, name } }: Pick<Visit, 'params'>): { scope: string; name: string } {
  return { scope, name }
}

function belongsTo({ account }: Visit, owner: string): boolean {
  if (account === null) return false
  return account.username === owner || account.organisations.some(({ username }) => username === owner)
}

/**
 * Minimum of each success metric from the version's package.json. Invalid entries are ignored, because rules change.
 */
export function successOf({ manifest }: Pick<VersionDetails, 'manifest'>): SuccessCriteria {
  return successCriteriaSchema.safeParse(record(manifest.agentgym).success).data ?? {}
}

/** Dependencies: name and range. */
export function dependenciesOf({ manifest }: Pick<VersionDetails, 'manifest'>): [name: string, range: string][] {
  const all = ['dependencies', 'optionalDependencies', 'peerDependencies'].flatMap((field) =>
    Object.entries(record(manifest[field])),
  )
  return all.filter((pair): pair is [string, string] => typeof pair[1] === 'string')
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}
