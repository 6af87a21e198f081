import { isDeepStrictEqual } from 'node:util'
import {
  AgentGymError,
  type AgentManifest,
  agentManifestSchema,
  type ErrorCode,
  findReadmePlaceholder,
  findSummaryProblem,
  placeholderMessage,
  scenarioManifestSchema,
} from '@agentgym/contract'
import { modelLimits } from '@agentgym/contract/model'
import { isClientFile, shownPath, type TarballFile } from '@agentgym/contract/tarball'
import semver from 'semver'
import { z } from 'zod'
import type { ModelChecker } from './model-checker.ts'
import { parsePackageName } from './package-name.ts'
import { parseManifest } from './parse-manifest.ts'
import type { Tarball } from './read-tarball.ts'

/** The fields that the registry uses from a valid package.json. */
export type VettedManifest = {
  name: string
  version: string
  kind: 'scenario' | 'agent'
  title: string
  summary: string
  category: string | null
  difficulty: string | null
  algorithm: string | null
  keywords: string[]
  /** agent.json of an agent; null for scenarios. */
  agent: AgentManifest | null
}

/** The field `agentgym` of an agent's package.json. The agent itself is described in agent.json. */
const agentFieldSchema = z.looseObject({
  kind: z.literal('agent'),
  title: z.string().min(1).max(80).optional(),
  summary: z.string().min(1).max(280).optional(),
  category: z.string().max(80).optional(),
})
const packageFieldsSchema = z.looseObject({
  name: z.string(),
  version: z.string(),
  description: z.string().max(2_000).optional(),
  keywords: z.array(z.string().min(1).max(50)).max(50).optional(),
})

/** Scripts that npm or pnpm runs on install, from the registry, a folder or a Git URL. */
const installScripts = [
  'preinstall',
  'install',
  'postinstall',
  'preprepare',
  'prepare',
  'postprepare',
  'prepublish',
  'dependencies',
  'preuninstall',
  'uninstall',
  'postuninstall',
]

/**
 * Checks a package.json by the registry's rules and against the name and version of the upload. The field `deprecated`
 * is ignored: owners deprecate versions after publishing. Throws the codes `package_…`, `name_invalid`,
 * `version_invalid`, `manifest_invalid`, `agent_invalid`.
 */
export function vetManifest(tarball: Tarball, name: string, version: string): VettedManifest {
  parsePackageName(name)
  parseVersion(version)
  const fields = parse(packageFieldsSchema, tarball.manifest, '')
  if (fields.name !== name)
    throw refused(
      'package_name_mismatch',
      `package.json names ${JSON.stringify(fields.name)}, the upload ${name}.`,
      'name',
    )
  if (fields.version !== version)
    throw refused(
      'package_version_mismatch',
      `package.json has version ${JSON.stringify(fields.version)}, the upload ${version}.`,
      'version',
    )
  vetLegalParts(tarball)
  vetNothingRuns(tarball)
  vetNoClientFiles(tarball)
  vetDependencies(tarball.manifest, tarball.files)
  const described = describe(tarball, fields)
  vetSummary(described)
  return { name, version, ...described, keywords: [...new Set(fields.keywords ?? [])] }
}

/** A strict semantic version without build metadata, which npm drops. Throws `version_invalid`. */
export function parseVersion(text: string): string {
  if (text.length > 64 || semver.valid(text) !== text)
    throw new AgentGymError({
      code: 'version_invalid',
      message: `${JSON.stringify(text.slice(0, 80))} is not a strict semantic version.`,
      hint: 'For example 1.0.0 or 1.1.0-rc.1, without "v" and without build metadata.',
      data: { field: 'version' },
    })
  return text
}

function vetLegalParts({ manifest, readme }: Tarball): void {
  if (manifest.private === true)
    throw refused('package_marked_private', 'package.json says "private": true.', 'private')
  if (typeof manifest.license !== 'string' || manifest.license.trim() === '' || manifest.license.length > 200)
    throw refused('package_license_missing', 'package.json has no "license".', 'license')
  if (readme === null || readme.trim() === '')
    throw refused('package_readme_missing', 'README.md is missing or empty.', 'readme')
  const placeholder = findReadmePlaceholder(readme)
  if (placeholder !== undefined) {
    const data = { field: 'readme', line: placeholder.line }
    throw new AgentGymError({ code: 'package_readme_placeholder', ...placeholderMessage(placeholder), data })
  }
}

function vetSummary({ kind, summary }: Described): void {
  const problem = findSummaryProblem(summary, kind)
  if (problem === undefined) return
  const field = kind === 'scenario' ? 'agentgym.summary' : 'description'
  throw new AgentGymError({ ...problem, data: { field } })
}

function vetNothingRuns({ manifest, files }: Tarball): void {
  const { scripts, bin, directories } = manifest
  const names = typeof scripts === 'object' && scripts !== null ? Object.keys(scripts) : []
  const script = installScripts.find((candidate) => names.includes(candidate))
  if (script !== undefined)
    throw refused('package_install_script', `package.json has the script "${script}".`, `scripts.${script}`)
  const hasDirectory = typeof directories === 'object' && directories !== null && 'bin' in directories
  if ((bin !== undefined && bin !== null) || hasDirectory)
    throw refused(
      'package_executable',
      'package.json declares commands ("bin").',
      hasDirectory ? 'directories.bin' : 'bin',
    )
  const native = files.find(({ path }) => /(?:^|\/)binding\.gyp$|\.(?:gypi?|node)$/i.test(path))
  if (native !== undefined || (manifest.gypfile !== undefined && manifest.gypfile !== false))
    throw refused('package_native_code', `${native?.path ?? '"gypfile"'} is native code or builds it.`, 'gypfile')
}

function vetNoClientFiles({ files }: Tarball): void {
  const file = files.find(({ path }) => isClientFile(path))
  if (file !== undefined)
    throw new AgentGymError({
      code: 'package_client_file',
      message: `The tarball contains ${shownPath(file.path)}, a lock file or settings of a package manager.`,
      hint: 'Omit it: list what to publish under `files` in package.json. The bundle needs no lock file.',
      data: { path: file.path },
    })
}

type Described = Omit<VettedManifest, 'name' | 'version' | 'keywords'>

function describe(tarball: Tarball, fields: z.infer<typeof packageFieldsSchema>): Described {
  const field = tarball.manifest.agentgym
  if (typeof field === 'object' && field !== null && 'kind' in field && field.kind === 'agent')
    return describeAgent(tarball, fields)
  const scenario = parse(scenarioManifestSchema, field, 'agentgym')
  if (tarball.bundleHash === null)
    throw refused('package_bundle_missing', 'The tarball has no dist/scenario.js.', 'files')
  const { algorithm } = scenario.training
  return {
    kind: 'scenario',
    title: scenario.title,
    summary: scenario.summary,
    category: scenario.category,
    difficulty: scenario.difficulty,
    algorithm: typeof algorithm === 'string' ? algorithm.slice(0, 40) : null,
    agent: null,
  }
}

function describeAgent(tarball: Tarball, fields: z.infer<typeof packageFieldsSchema>): Described {
  const field = parse(agentFieldSchema, tarball.manifest.agentgym, 'agentgym')
  const agent = vetAgent(tarball)
  const base = fields.name.slice(fields.name.indexOf('/') + 1)
  return {
    kind: 'agent',
    title: field.title ?? base,
    summary: field.summary ?? fields.description?.slice(0, 280) ?? '',
    category: field.category ?? null,
    difficulty: null,
    algorithm: agent.algorithm,
    agent,
  }
}

function parse<Output>(schema: z.ZodType<Output>, value: unknown, at: string): Output {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const field = [at, ...issue.path.map(String)].filter((part) => part !== '').join('.')
  const message = `package.json: ${field === '' ? '' : `the field "${field}": `}${issue.message.replace(/\.$/, '')}.`
  throw new AgentGymError({ code: 'manifest_invalid', message, data: { field } })
}

function refused(code: ErrorCode, message: string, field: string): AgentGymError {
  return new AgentGymError({ code, message, hint: hints[code], data: { field } })
}

const hints: Partial<Record<ErrorCode, string>> = {
  package_name_mismatch: 'Publish to the name that package.json has.',
  package_version_mismatch: 'Publish the version that package.json has.',
  package_marked_private: 'Remove "private" to publish the package.',
  package_license_missing: 'Set "license", such as "MIT" or "SEE LICENSE IN LICENSE".',
  package_readme_missing: 'Add a README.md that describes the task, observation, actions and reward.',
  package_install_script: 'Remove the script: nothing runs when a package is installed.',
  package_executable: 'Publish commands in a separate package.',
  package_native_code: 'Remove it: a scenario is JavaScript.',
  package_bundle_missing: 'Run `agentgym scenario build` before packing and list "dist" under `files`.',
}

/** Dependencies that an installing client resolves. */
const installed = ['dependencies', 'optionalDependencies', 'peerDependencies']
/** Specifiers that only work in the author's folder. */
const local = /^(?:workspace|file|link|portal|catalog|patch):/

/**
 * Refuses dependencies that are not a version range from a registry, and those bundled in the tarball. Only the bundle
 * runs; a client would fetch dependencies in addition. Throws `package_dependency_forbidden`,
 * `package_dependencies_bundled`.
 */
function vetDependencies(manifest: Record<string, unknown>, files: TarballFile[]): void {
  const bundled = manifest.bundleDependencies ?? manifest.bundledDependencies
  const lists = bundled !== undefined && bundled !== false && !(Array.isArray(bundled) && bundled.length === 0)
  const carried = files.find(({ path }) => /(?:^|\/)node_modules\//i.test(path))
  if (lists || carried !== undefined)
    throw new AgentGymError({
      code: 'package_dependencies_bundled',
      message: carried ? `The tarball contains ${carried.path}.` : 'package.json lists bundled dependencies.',
      hint: 'Dependencies are bundled into dist/scenario.js; remove the files.',
      data: { field: 'bundleDependencies' },
    })
  for (const field of [...installed, 'devDependencies']) {
    for (const [name, wanted] of entriesOf(manifest[field], field)) {
      const fits = typeof wanted === 'string' && (installed.includes(field) ? isRange(wanted) : !local.test(wanted))
      if (!fits) throw forbidden(`${field}.${name}`, wanted)
    }
  }
}

function entriesOf(value: unknown, field: string): [string, unknown][] {
  if (value === undefined) return []
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw forbidden(field, value)
  return Object.entries(value)
}

function isRange(text: string): boolean {
  return text.length <= 200 && semver.validRange(text) !== null
}

function forbidden(field: string, wanted: unknown): AgentGymError {
  return new AgentGymError({
    code: 'package_dependency_forbidden',
    message: `package.json: "${field}" is ${JSON.stringify(wanted)?.slice(0, 120)}, which is not a version range.`,
    hint: 'Publish with `agentgym scenario publish`, which bundles dependencies, or give a range such as ^1.2.0.',
    data: { field },
  })
}

/** Maximum number of evaluation episodes, which a worker re-runs. */
const claimedEpisodes = 100_000

/**
 * Checks an agent's package except for the model's structure (`vetModel`): agent.json against its schema, and the hash
 * of its model. Throws `agent_invalid` and `model_too_large`.
 */
function vetAgent({ agentJson, model }: Pick<Tarball, 'agentJson' | 'model'>): AgentManifest {
  if (agentJson === null || model === null)
    throw agentInvalid(`The tarball has no ${agentJson === null ? 'agent.json' : 'model.onnx'}.`, 'files')
  const parsed = agentManifestSchema.safeParse(parseAgentJson(agentJson))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const field = issue.path.map(String).join('.')
    throw agentInvalid(`agent.json: the field "${field}": ${issue.message.replace(/\.$/, '')}.`, field)
  }
  const { episodes, seed } = parsed.data.evaluation
  if (episodes < 1 || episodes > claimedEpisodes)
    throw agentInvalid(
      `agent.json claims ${episodes} episodes; it must be 1 to ${claimedEpisodes}.`,
      'evaluation.episodes',
    )
  if (seed > 0xffffffff) throw agentInvalid('The seed in agent.json has more than 32 bits.', 'evaluation.seed')
  if (parsed.data.model_hash !== model.hash)
    throw agentInvalid('model.onnx is not the model named in agent.json: its SHA-256 differs.', 'model_hash')
  if (model.bytes === null)
    throw new AgentGymError({
      code: 'model_too_large',
      message: `model.onnx has more than ${modelLimits.bytes} bytes.`,
      hint: 'Train a smaller network.',
      data: { file: 'model.onnx', limit: modelLimits.bytes },
    })
  return parsed.data
}

/**
 * Checks the structure of an agent's model before anything runs it. Verification checks the claims of agent.json.
 * Throws the codes `model_…`.
 */
export async function vetModel(
  models: Pick<ModelChecker, 'check'>,
  { model }: Pick<Tarball, 'model'>,
  { agent }: Pick<VettedManifest, 'agent'>,
): Promise<void> {
  if (agent !== null && model?.bytes) await models.check({ bytes: model.bytes, policy: agent.policy })
}

function parseAgentJson(bytes: Uint8Array): Record<string, unknown> {
  try {
    return parseManifest(bytes)
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    throw agentInvalid(error.message.replace('package.json', 'agent.json'), 'agent.json')
  }
}

function agentInvalid(message: string, field: string): AgentGymError {
  const hint = 'Publish the folder that training wrote, unchanged.'
  return new AgentGymError({ code: 'agent_invalid', message, hint, data: { field } })
}

type Manifest = Record<string, unknown>

/**
 * Fields that determine what an installation runs and fetches. Clients rewrite others (`repository`, `bugs`, …) on
 * upload.
 */
const compared: Record<string, (manifest: Manifest) => unknown> = {
  name: ({ name }) => name,
  version: ({ version }) => version,
  // npm adds scripts (`start` if there is a server.js) to the declared ones.
  scripts: ({ scripts }) => Object.keys(asObject(scripts)).filter((script) => installScripts.includes(script)),
  bin: ({ bin }) => bin ?? {},
  // npm moves optional dependencies between the two fields.
  dependencies: ({ dependencies, optionalDependencies }) => ({
    ...asObject(dependencies),
    ...asObject(optionalDependencies),
  }),
  peerDependencies: ({ peerDependencies }) => peerDependencies ?? {},
  agentgym: ({ agentgym }) => agentgym,
}

/**
 * Compares an upload's metadata outside the tarball, such as in npm's documents, with the package.json in the tarball.
 * Only the tarball is served, so a difference means a broken or deceptive client. Throws `package_manifest_mismatch`.
 */
export function vetDeclaredManifest(declared: Manifest, packed: Manifest): void {
  for (const [field, read] of Object.entries(compared))
    if (!isDeepStrictEqual(read(declared), read(packed)))
      throw new AgentGymError({
        code: 'package_manifest_mismatch',
        message: `"${field}" in the upload differs from package.json in the tarball.`,
        hint: 'Publish with `agentgym scenario publish`, npm or pnpm.',
        data: { field },
      })
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}
