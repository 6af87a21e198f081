import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { writePublishedTarball } from '@agentgym/contract/tarball'
import { pack } from 'tar-stream'

export type ScenarioPackage = {
  name: string
  version: string
  readme?: string
  /** More fields of package.json. */
  fields?: Record<string, unknown>
}

function scenarioManifest({ name, version, fields }: ScenarioPackage): Record<string, unknown> {
  return {
    name,
    version,
    description: 'Balance nothing at all.',
    license: 'MIT',
    type: 'module',
    keywords: ['test'],
    files: ['dist', 'src'],
    ...fields,
    agentgym: {
      kind: 'scenario',
      entry: 'src/index.ts',
      title: 'Nothing',
      summary: 'Balance nothing at all.',
      category: 'control',
      difficulty: 'beginner',
      success: { return_mean: 1 },
      training: { algorithm: 'ppo', steps: 1000 },
    },
  }
}

/** The files of a small scenario package that passes every upload check. */
function scenarioFiles(scenario: ScenarioPackage): Record<string, string> {
  const { name, version, readme } = scenario
  return {
    'package.json': `${JSON.stringify(scenarioManifest(scenario), null, 2)}\n`,
    'README.md': readme ?? `# ${name} ${version}\n`,
    LICENSE: 'MIT\n',
    'src/index.ts': `export default '${version}'\n`,
    'dist/scenario.js': `module.exports = '${version}'\n`,
  }
}

export async function writeScenarioFolder(folder: string, scenario: ScenarioPackage): Promise<void> {
  for (const [path, text] of Object.entries(scenarioFiles(scenario))) {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}

/** As `npm pack` would make it, without npm. */
export async function packScenario(scenario: ScenarioPackage): Promise<Buffer> {
  const archive = pack()
  for (const [path, text] of Object.entries(scenarioFiles(scenario)))
    archive.entry({ name: `package/${path}`, mode: 0o644, mtime: new Date(0) }, text)
  archive.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of archive) chunks.push(chunk as Buffer)
  return gzipSync(Buffer.concat(chunks))
}

/** Of the tarball that the registry writes of these files. */
export async function servedIntegrityOf(scenario: ScenarioPackage): Promise<string> {
  const files = Object.entries(scenarioFiles(scenario)).map(([path, text]) => ({ path, bytes: Buffer.from(text) }))
  return (await writePublishedTarball(files, scenarioManifest(scenario))).integrity
}

export const integrityOf = (bytes: Uint8Array): string =>
  `sha512-${createHash('sha512').update(bytes).digest('base64')}`

/** The document that `npm publish` sends. */
export function publishDocument(scenario: ScenarioPackage, tarball: Uint8Array, tag = 'latest'): string {
  const { name, version } = scenario
  const base = Buffer.from(tarball)
  const dist = { integrity: integrityOf(tarball), shasum: createHash('sha1').update(tarball).digest('hex') }
  return JSON.stringify({
    _id: name,
    name,
    'dist-tags': { [tag]: version },
    versions: { [version]: { ...scenarioManifest(scenario), _id: `${name}@${version}`, dist } },
    access: null,
    _attachments: {
      [`${name}-${version}.tgz`]: {
        content_type: 'application/octet-stream',
        data: base.toString('base64'),
        length: base.byteLength,
      },
    },
  })
}
