import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentGymError, findSummaryProblem, summaryLength } from '@agentgym/contract'
import { type PackedFile, writePublishedTarball, writeTarball } from '@agentgym/contract/tarball'
import type { PackedPackage } from './publish-package.ts'

/** The files of an agent's package, in the order of the tarball. */
const required = ['package.json', 'agent.json', 'model.onnx', 'README.md']
const optional = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'learning-curve.svg']

/** The files of an agent, by path. */
export type AgentFiles = ReadonlyMap<string, Uint8Array>

/** Reads the package files of an agent's folder. `packAgent` reports missing ones. */
export async function readAgentFiles(folder: string): Promise<AgentFiles> {
  const files = new Map<string, Uint8Array>()
  for (const path of [...required, ...optional]) {
    const bytes = await readFile(join(folder, path)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (bytes !== undefined) files.set(path, bytes)
  }
  return files
}

export type AgentIdentity = {
  /** Name with or without a scope; by default that of package.json. */
  name?: string
  version?: string
  /** One sentence for lists; by default that of package.json, or else the one known for the package of that name. */
  summary?: string
  knownSummary?: (name: string) => Promise<string | undefined>
  /** Scope for a name without one: `ann`. */
  account: string
}

/**
 * The tarball of an agent: only the files that training wrote, and package.json with the given name, version and summary.
 * The same agent gives the same bytes. Throws `agent_invalid`, `manifest_invalid`, `package_readme_missing`,
 * `package_summary_missing` and `package_summary_placeholder`.
 */
export async function packAgent(files: AgentFiles, identity: AgentIdentity): Promise<PackedPackage> {
  for (const path of required) if (!files.has(path)) throw missing(path)
  const manifest = parseManifest(files.get('package.json') ?? new Uint8Array())
  const given = identity.name ?? stringField(manifest, 'name')
  const name = given.startsWith('@') ? given : `@${identity.account}/${given}`
  const version = identity.version ?? stringField(manifest, 'version')
  const described = { ...manifest, name, version, ...(await summaryFields(manifest, name, identity)) }
  const named = Buffer.from(`${JSON.stringify(described, null, 2)}\n`)
  const packed: PackedFile[] = [...required, ...optional]
    .filter((path) => files.has(path))
    .map((path) => ({ path, bytes: path === 'package.json' ? named : (files.get(path) ?? named) }))
  return {
    bytes: (await writeTarball(packed)).bytes,
    integrity: (await writePublishedTarball(packed, described)).integrity,
    name,
    version,
    files: packed.map(({ path, bytes }) => ({ path, bytes: bytes.length })),
    unpackedBytes: packed.reduce((sum, file) => sum + file.bytes.length, 0),
  }
}

/** The summary that an agent's package.json has: `agentgym.summary`, or `description`. */
function summaryOf(manifest: Record<string, unknown>): string | undefined {
  const { agentgym, description } = manifest
  const own = typeof agentgym === 'object' && agentgym !== null && 'summary' in agentgym ? agentgym.summary : undefined
  return [own, description].find((text) => typeof text === 'string')
}

/** The fields of package.json that have the summary; none if it has one already. */
async function summaryFields(
  manifest: Record<string, unknown>,
  name: string,
  { summary: given, knownSummary }: AgentIdentity,
): Promise<Record<string, unknown>> {
  const own = findSummaryProblem(summaryOf(manifest), 'agent')
  if (given === undefined && own === undefined) return {}
  const known = given?.trim() ?? (await knownSummary?.(name))
  const problem = known === undefined ? own : findSummaryProblem(known, 'agent')
  if (problem !== undefined) throw new AgentGymError({ ...problem, data: { field: 'summary' } })
  if (known !== undefined && known.length > summaryLength)
    throw invalid(`the summary has more than ${summaryLength} characters`, 'summary')
  const { agentgym } = manifest
  return { description: known, agentgym: { ...(typeof agentgym === 'object' ? agentgym : {}), summary: known } }
}

function parseManifest(bytes: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // Reported below, like JSON that is not an object.
  }
  throw invalid('package.json is not a JSON object', 'package.json')
}

function stringField(manifest: Record<string, unknown>, field: string): string {
  const value = manifest[field]
  if (typeof value === 'string' && value !== '') return value
  throw invalid(`package.json has no "${field}"`, field)
}

function invalid(message: string, field: string): AgentGymError {
  const hint =
    field === 'summary'
      ? 'Shorten --summary to one sentence.'
      : 'Set --name and --version, or train or download the agent again.'
  return new AgentGymError({ code: 'manifest_invalid', message, hint, data: { field } })
}

function missing(path: string): AgentGymError {
  const message = `the agent has no ${path}`
  if (path === 'README.md') {
    const hint = 'Add README.md next to agent.json: what the agent does, how well, and how it was trained.'
    return new AgentGymError({ code: 'package_readme_missing', message, hint })
  }
  const hint = 'Publish the complete, unchanged folder that training wrote.'
  return new AgentGymError({ code: 'agent_invalid', message, hint, data: { path } })
}
