import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { sha256 } from '@agentgym/agent/engine'
import { AgentGymError, fileFailure, type ScenarioPackage } from '@agentgym/contract'
import * as esbuild from 'esbuild'
import { explainNodeModule } from './import-chain.ts'
import { readScenarioPackage } from './read-scenario-package.ts'
import { codeFrame, type SourcePlace } from './source-place.ts'
import type { ScenarioIdentity } from './vector-environment.ts'

export type BuiltScenario = {
  folder: string
  package: ScenarioPackage
  /** A CommonJS script; `module.exports.default` is the scenario's definition. */
  source: string
  /** SHA-256 (hex) of `source`: what "the same scenario" means everywhere. */
  hash: string
  /**
   * Leads from `source` to the author's files, with their text; where it was built here, or its package carries one. No part of the
   * hash.
   */
  sourceMap?: string
}

const BUNDLE = path.join('dist', 'scenario.js')
/** Beside the bundle in a published package; only errors read it. */
const BUNDLE_MAP = path.join('dist', 'scenario.js.map')
const MAX_MAP_BYTES = 8 * 2 ** 20
const MAX_BUNDLE_BYTES = 32 * 2 ** 20

/**
 * Bundles a scenario folder's entry and its npm dependencies into one script. The folder needs no node_modules:
 * `@agentgym/scenario` is always our own copy. The same files give the same bytes, wherever the folder lies and however
 * Git checked them out: with LF or CRLF, with a byte order mark or without.
 *
 * Throws `manifest_invalid`, `file_not_found`, or `scenario_build_failed` with file, line and how to mend.
 */
export async function buildScenario(folder: string): Promise<BuiltScenario> {
  const manifest = readScenarioPackage(folder)
  const root = realpathSync(folder)
  const entry = entryOf(root, manifest)
  const { source, sourceMap } = await bundle(root, entry, manifest)
  return { ...built(folder, manifest, source), sourceMap }
}

/** Takes an installed package (dist/scenario.js without its sources) as it is, and builds any other in memory. */
export async function loadScenario(folder: string): Promise<BuiltScenario> {
  const manifest = readScenarioPackage(folder)
  const entry = path.resolve(folder, manifest.agentgym.entry)
  const bundled = path.resolve(folder, BUNDLE)
  const installed = existsSync(bundled) && (entry === bundled || !existsSync(entry))
  return installed ? readBundle(folder) : buildScenario(folder)
}

/** A published package's dist/scenario.js as it is. Bundling a stranger's code would read whatever files it names. */
export function readBundle(folder: string): BuiltScenario {
  const manifest = readScenarioPackage(folder)
  const file = path.join(folder, BUNDLE)
  if (existsSync(file)) return { ...built(folder, manifest, readFileSync(file, 'utf8')), ...shippedMap(folder) }
  throw new AgentGymError({
    code: 'scenario_build_failed',
    message: `The package ${manifest.name}@${manifest.version} has no ${BUNDLE}.`,
    hint: 'Publish it with `agentgym scenario publish`, which bundles it.',
  })
}

function shippedMap(folder: string): { sourceMap?: string } {
  const { size } = statSync(path.join(folder, BUNDLE_MAP), { throwIfNoEntry: false }) ?? { size: 0 }
  if (size === 0 || size > MAX_MAP_BYTES) return {}
  return { sourceMap: readFileSync(path.join(folder, BUNDLE_MAP), 'utf8') }
}

/** Builds a scenario folder and writes its dist/scenario.js, whole or not at all; `path` is that file. */
export async function writeBuild(folder: string): Promise<BuiltScenario & { path: string }> {
  const scenario = await buildScenario(folder)
  const file = path.join(folder, BUNDLE)
  const unfinished = `${file}.${process.pid}.tmp`
  try {
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(unfinished, scenario.source)
    renameSync(unfinished, file)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw fileFailure(error, file)
  }
  return { ...scenario, path: file }
}

export function identityOf(scenario: {
  package: Pick<ScenarioPackage, 'name' | 'version'>
  hash: string
}): ScenarioIdentity {
  return { name: scenario.package.name, version: scenario.package.version, hash: scenario.hash }
}

function built(folder: string, manifest: ScenarioPackage, source: string): BuiltScenario {
  refuseLarge(manifest, source)
  return { folder, package: manifest, source, hash: sha256(source) }
}

type Input = { path: string; bytes: number }

function refuseLarge(manifest: ScenarioPackage, source: string, inputs: Input[] = []): void {
  const bytes = Buffer.byteLength(source)
  if (bytes <= MAX_BUNDLE_BYTES) return
  const largest = inputs.map(({ path, bytes }) => `${path} (${inMebibytes(bytes)})`).join(', ')
  throw new AgentGymError({
    code: 'scenario_build_failed',
    message: `The bundle of ${manifest.name} has ${inMebibytes(bytes)}, and may have ${inMebibytes(MAX_BUNDLE_BYTES)}.${
      largest === '' ? '' : ` Largest files: ${largest}.`
    }`,
    hint: 'Leave out large data or dependencies.',
    data: { scenario: manifest.name, version: manifest.version, phase: 'bundle', bytes, largest: inputs },
  })
}

function inMebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`
}

/** The files that take the most of the bundle, the largest first. */
function largestInputs(output: esbuild.Metafile['outputs'][string]): Input[] {
  return Object.entries(output.inputs)
    .map(([path, { bytesInOutput }]) => ({ path, bytes: bytesInOutput }))
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, 5)
}

function entryOf(root: string, manifest: ScenarioPackage): string {
  const { entry } = manifest.agentgym
  const file = path.resolve(root, entry)
  const data = { path: path.join(root, 'package.json'), field: 'agentgym.entry' }
  if (!file.startsWith(root + path.sep)) {
    const message = `package.json: the field "agentgym.entry" (${entry}) leads out of the scenario's folder.`
    throw new AgentGymError({ code: 'manifest_invalid', message, hint: 'Name a file inside it.', data })
  }
  if (!existsSync(file)) {
    const message = `package.json: the field "agentgym.entry" names ${entry}, which does not exist in ${root}.`
    throw new AgentGymError({ code: 'file_not_found', message, hint: 'Correct the field, or make the file.', data })
  }
  return file
}

async function bundle(
  root: string,
  entry: string,
  manifest: ScenarioPackage,
): Promise<{ source: string; sourceMap: string }> {
  const tsconfig = path.join(root, 'tsconfig.json')
  const options = {
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    write: false,
    outfile: path.join(root, BUNDLE),
    // Beside the bundle, without a comment in it: the bundle's bytes are the scenario's identity.
    sourcemap: 'external',
    format: 'cjs',
    // Takes what packages offer to browsers, which have no Node either: the field and the condition `browser`.
    platform: 'browser',
    target: 'node24',
    charset: 'utf8',
    legalComments: 'none',
    // Packages for browsers reach `crypto` as a property of `self`.
    define: { 'process.env.NODE_ENV': '"production"', self: 'globalThis' },
    logLevel: 'silent',
    // Never one from a folder further up: the result would depend on where the scenario lies.
    ...(existsSync(tsconfig) ? { tsconfig } : { tsconfigRaw: '{}' }),
    plugins: [await ownPackagePlugin(), lineEndPlugin],
  } satisfies esbuild.BuildOptions
  try {
    const { outputFiles, metafile } = await esbuild.build({ ...options, metafile: true })
    const [sourceMap, source] = outputFiles.map(({ text }) => text)
    const [output] = Object.values(metafile.outputs).filter(({ entryPoint }) => entryPoint !== undefined)
    refuseLarge(manifest, source, largestInputs(output))
    return { source, sourceMap }
  } catch (error) {
    throw await buildError(error, options, manifest)
  }
}

/** What to do about the messages that authors meet most, by what esbuild says. */
const hints: [pattern: RegExp, hint: string][] = [
  [/Could not resolve/, 'Install the dependency in the scenario folder, or correct the path.'],
  [/Top-level await/, 'Load data with import instead: a scenario is ready when its module has run.'],
  [/No loader is configured/, 'Only TypeScript, JavaScript, JSON and text files can be imported.'],
]

async function buildError(
  error: unknown,
  options: esbuild.BuildOptions & { absWorkingDir: string },
  manifest: ScenarioPackage,
): Promise<AgentGymError> {
  const messages = (error as Partial<esbuild.BuildFailure>).errors
  if (messages === undefined || messages.length === 0) throw error
  const root = options.absWorkingDir
  const [{ location, detail }] = messages
  const refused = await explainNodeModule(messages[0], options)
  const text = refused?.text ?? messages[0].text
  const place = location === null ? '' : `${location.file}:${location.line}: `
  const others = messages.length > 1 ? ` (and ${messages.length - 1} more)` : ''
  return new AgentGymError({
    code: 'scenario_build_failed',
    message: `Scenario ${manifest.name}@${manifest.version}: ${place}${text}${others}.`,
    hint: refused?.hint ?? hints.find(([pattern]) => pattern.test(text))?.[1] ?? 'Mend the line named and build again.',
    data: {
      scenario: manifest.name,
      version: manifest.version,
      phase: 'bundle',
      ...(location === null ? {} : placeOf(root, location)),
      ...(typeof detail === 'string' ? { import: detail } : {}),
      ...(refused === undefined ? {} : { import: refused.module, chain: refused.chain }),
    },
  })
}

/** esbuild counts columns from 0, in bytes of UTF-8. */
function placeOf(root: string, { file, line, column, lineText }: esbuild.Location): SourcePlace {
  const place = { file, line, column: Buffer.from(lineText).subarray(0, column).toString().length + 1 }
  try {
    return { ...place, frame: codeFrame(readFileSync(path.resolve(root, file), 'utf8'), place) }
  } catch {
    return place
  }
}

const OWN = '@agentgym/scenario'
const NAMESPACE = 'agentgym'

let ownSource: Promise<string> | undefined

/**
 * Gives every import of `@agentgym/scenario` our own copy. It is bundled first and served from memory: its path would otherwise end up in the scenario's bytes.
 */
async function ownPackagePlugin(): Promise<esbuild.Plugin> {
  ownSource ??= bundleOwnPackage()
  const contents = await ownSource
  return {
    name: 'agentgym',
    setup(build) {
      build.onResolve({ filter: /^@agentgym\/scenario(\/|$)/ }, ({ path: name }) => {
        if (name === OWN) return { path: 'scenario', namespace: NAMESPACE }
        const text = `Could not resolve "${name}": scenarios import "${OWN}" only, not its parts`
        return { errors: [{ text, detail: name }] }
      })
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, () => ({ contents, loader: 'js' }))
    },
  }
}

/**
 * Gives esbuild every file with LF and without a byte order mark. By itself, it keeps CRLF in imported text and in some
 * literals and comments. A file that needs no change is left to esbuild, so that its output does not change either.
 */
const lineEndPlugin: esbuild.Plugin = {
  name: 'line-ends',
  setup(build) {
    build.onLoad({ filter: /\.([cm]?[jt]s|[jt]sx|json|txt)$/, namespace: 'file' }, async ({ path: file }) => {
      const bytes = await readFile(file)
      const contents = withPlainLines(bytes)
      return contents.length === bytes.length ? undefined : { contents, loader: 'default' }
    })
  },
}

const BYTE_ORDER_MARK = Buffer.from('\uFEFF')

/** In bytes, which are the same for every encoding that contains ASCII. */
function withPlainLines(bytes: Buffer): Buffer {
  const marked = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
  const text = bytes.toString('latin1', marked ? BYTE_ORDER_MARK.length : 0)
  return Buffer.from(text.replaceAll('\r\n', '\n'), 'latin1')
}

/** The TypeScript of `@agentgym/scenario` or of a part of it. An installed command has JavaScript beside it, which Node loads. */
export function librarySource(name: string): string {
  return fileURLToPath(import.meta.resolve(name)).replace(/\.js$/, '.ts')
}

async function bundleOwnPackage(): Promise<string> {
  const entry = librarySource(OWN)
  const result = await esbuild.build({
    absWorkingDir: path.dirname(entry),
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    target: 'node24',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'silent',
    tsconfigRaw: '{}',
  })
  return result.outputFiles[0].text
}
