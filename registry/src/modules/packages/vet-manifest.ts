import { AgentGymError, type AgentManifest, type ErrorCode, scenarioManifestSchema } from '@agentgym/contract'
import semver from 'semver'
import { z } from 'zod'
import { parsePackageName } from './package-name.ts'
import type { Tarball } from './read-tarball.ts'
import { vetAgent } from './vet-agent.ts'
import { vetDependencies } from './vet-dependencies.ts'

/** What the registry takes from a package.json that has passed. */
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

/** The field `agentgym` of an agent's package.json. What the agent is stands in agent.json, which only verification reads. */
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

/** Scripts that npm or pnpm runs while installing, from the registry or from a folder or Git address. */
export const installScripts = [
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
 * Holds a package.json to the registry's rules, and to what the upload says of it. The field `deprecated` in it means
 * nothing: a version is deprecated by its owner afterwards, or not. Throws the codes `package_…`, `name_invalid`,
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
  vetDependencies(tarball.manifest, tarball.files)
  const described = describe(tarball, fields)
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
    throw refused('package_license_missing', 'package.json has no "license" in words.', 'license')
  if (readme === null || readme.trim() === '')
    throw refused('package_readme_missing', 'There is no README.md with text in it beside package.json.', 'readme')
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
      'package.json names commands to install.',
      hasDirectory ? 'directories.bin' : 'bin',
    )
  const native = files.find(({ path }) => /(?:^|\/)binding\.gyp$|\.(?:gypi?|node)$/i.test(path))
  if (native !== undefined || (manifest.gypfile !== undefined && manifest.gypfile !== false))
    throw refused('package_native_code', `${native?.path ?? '"gypfile"'} is native code or builds it.`, 'gypfile')
}

type Described = Omit<VettedManifest, 'name' | 'version' | 'keywords'>

function describe(tarball: Tarball, fields: z.infer<typeof packageFieldsSchema>): Described {
  const field = tarball.manifest.agentgym
  if (typeof field === 'object' && field !== null && 'kind' in field && field.kind === 'agent')
    return describeAgent(tarball, fields)
  const scenario = parse(scenarioManifestSchema, field, 'agentgym')
  if (tarball.bundleHash === null)
    throw refused('package_bundle_missing', 'The tarball holds no dist/scenario.js.', 'files')
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
  package_marked_private: 'Remove "private" if the package is to be published.',
  package_license_missing: 'Set "license", such as "MIT" or "SEE LICENSE IN LICENSE".',
  package_readme_missing: 'Add README.md: what the scenario asks, its observation, actions and reward.',
  package_install_script: 'Remove the script: nothing runs when a package is installed.',
  package_executable: 'Publish commands as a package of their own.',
  package_native_code: 'Leave it out: a scenario is JavaScript.',
  package_bundle_missing: 'Run `agentgym scenario build` before packing and list "dist" under `files`.',
}
