import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync, realpathSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sha256 } from '@agentgym/agent/engine'
import { AgentGymError } from '@agentgym/contract'
import { type BuiltScenario, librarySource } from './build-scenario.ts'
import type { Check } from './checks/check-messages.ts'
import { codeFrame, type SourcePlace } from './source-place.ts'

const entrySource = librarySource('@agentgym/scenario')
const testingSource = librarySource('@agentgym/scenario/testing')
const globals = path.join(path.dirname(entrySource), '..', 'globals.d.ts')
const compiler = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')

/** As the bundler reads files. The sandbox has the language, and no DOM. */
const withoutTsconfig = {
  target: 'es2024',
  lib: ['es2024', 'esnext.array', 'esnext.collection'],
  module: 'preserve',
  strict: true,
  allowImportingTsExtensions: true,
  resolveJsonModule: true,
  allowJs: true,
  skipLibCheck: true,
  types: [],
}

/**
 * Type-checks a scenario's entry and what it imports, with our TypeScript: one of the folder would run outside the sandbox.
 * Errors fail the check where the folder has a tsconfig.json, and are a warning where it has none.
 */
export async function checkTypes(scenario: BuiltScenario): Promise<Check> {
  const id = 'types'
  const root = realpathSync(scenario.folder)
  const entry = path.resolve(root, scenario.package.agentgym.entry)
  if (scenario.sourceMap === undefined || !/\.[cm]?tsx?$/.test(entry)) {
    return { id, ok: true, message: 'not type-checked: the entry is no TypeScript file' }
  }
  const tsconfig = path.join(root, 'tsconfig.json')
  const strict = existsSync(tsconfig)
  const installed = existsSync(path.join(root, 'node_modules', '@agentgym', 'scenario', 'package.json'))
  const errors = await inTemporaryFolder(async (folder) => {
    const own = {
      ...(strict ? {} : withoutTsconfig),
      ...(installed ? {} : { paths: { '@agentgym/scenario': [entrySource] } }),
      noEmit: true,
    }
    const config = {
      ...(strict ? { extends: tsconfig } : {}),
      compilerOptions: own,
      files: [globals, entry],
      include: [],
    }
    await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(config))
    const output = await runCompiler(['--project', folder, '--pretty', 'false'], root)
    return readErrors(output, root, tsconfig)
  })
  const stale = hasStaleLibrary(root)
    ? `${LIBRARY_FOLDER} is of another release of agentgym: run \`agentgym scenario init --refresh\` in the folder`
    : undefined
  if (errors.length === 0) {
    const message = `no type errors${strict ? '' : ' (no tsconfig.json)'}`
    return stale === undefined
      ? { id, ok: true, message }
      : { id, ok: true, warning: true, message: `${message}; ${stale}` }
  }
  const shown = errors.slice(0, 5).map(({ place, text }) => {
    return place === undefined ? text : `${place.file}:${place.line}:${place.column} ${text}`
  })
  const more = errors.length > shown.length ? `; and ${errors.length - shown.length} more` : ''
  const first = errors[0].place
  const frame = first && codeFrame(await readFile(path.resolve(root, first.file), 'utf8'), first)
  return {
    ...{ id, ok: !strict, message: `${shown.join('; ')}${more}${stale === undefined ? '' : `; ${stale}`}` },
    ...(strict ? {} : { warning: true as const }),
    ...(frame === undefined ? {} : { frame }),
  }
}

type TypeFault = { place?: SourcePlace; text: string }

/** Errors of the author's files, and those of no file, such as an unknown option in tsconfig.json. */
function readErrors(output: string, root: string, tsconfig: string): TypeFault[] {
  return output.split('\n').flatMap((line): TypeFault[] => {
    const found = /^(?:(.+)\((\d+),(\d+)\): )?error (TS\d+): (.*)$/.exec(line.trimEnd())
    if (found === null) return []
    const [, name, row, column, code, message] = found
    const text = `${message} (${code})`
    if (name === undefined) return [{ text }]
    const file = path.relative(root, path.resolve(root, name))
    const foreign = file.startsWith('..') || file.split(path.sep).includes('node_modules')
    if (foreign && path.resolve(root, name) !== tsconfig) return []
    return [{ place: { file, line: Number(row), column: Number(column) }, text }]
  })
}

/**
 * Writes `@agentgym/scenario` as a package that Node, editors and bundlers read without TypeScript: JavaScript with
 * declarations beside it. The folder must not exist.
 */
export async function writeScenarioLibrary(folder: string): Promise<void> {
  const dist = path.join(folder, 'dist')
  await mkdir(dist, { recursive: true })
  const { target, lib } = withoutTsconfig
  const options = ['--ignoreConfig', '--module', 'nodenext', '--target', target, '--lib', lib.join(), '--types', '']
  // Of files below node_modules, the compiler would write the entries alone.
  const output = await inTemporaryFolder(async (copied) => {
    const root = path.join(path.dirname(entrySource), '..')
    for (const part of ['package.json', 'src'])
      await cp(path.join(root, part), path.join(copied, part), { recursive: true })
    const entries = [entrySource, testingSource].map((file) => path.join(copied, path.relative(root, file)))
    return runCompiler(
      [...options, '--strict', '--declaration', '--rewriteRelativeImportExtensions', '--outDir', dist, ...entries],
      copied,
    )
  })
  if (output.trim() !== '') {
    throw new AgentGymError({ code: 'internal_error', message: `@agentgym/scenario does not compile: ${output}` })
  }
  await cp(globals, path.join(dist, 'globals.d.ts'))
  const declarations = path.join(dist, 'index.d.ts')
  const reference = '/// <reference path="./globals.d.ts" />\n'
  await writeFile(declarations, reference + (await readFile(declarations, 'utf8')))
  const source = JSON.parse(await readFile(path.join(path.dirname(entrySource), '..', 'package.json'), 'utf8'))
  const entry = (name: string) => ({ types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` })
  const exports = { '.': entry('index'), './testing': entry('testing/index') }
  const types = exports['.'].types
  const manifest = { ...source, files: ['dist'], types, exports, [SOURCE_HASH]: librarySourceHash() }
  await writeFile(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

/** The field of the written package.json that says which sources it was compiled from. */
const SOURCE_HASH = 'sourceHash'

/** Where `agentgym scenario init` writes the package, in a scenario's folder. */
const LIBRARY_FOLDER = path.join('vendor', 'scenario')

/** Whether the folder has a written `@agentgym/scenario` that is not ours: of another release of the command. */
function hasStaleLibrary(folder: string): boolean {
  const manifest = path.join(folder, LIBRARY_FOLDER, 'package.json')
  if (!existsSync(manifest)) return false
  try {
    const { name, [SOURCE_HASH]: hash } = JSON.parse(readFileSync(manifest, 'utf8'))
    return name === '@agentgym/scenario' && hash !== librarySourceHash()
  } catch {
    return true
  }
}

let sourceHash: string | undefined

/** Over every source file of `@agentgym/scenario`: development builds share a version. */
function librarySourceHash(): string {
  if (sourceHash !== undefined) return sourceHash
  const root = path.dirname(entrySource)
  const files = globSync('**/*.ts', { cwd: root, exclude: (name) => name.endsWith('.test.ts') }).sort()
  const texts = [globals, ...files.map((file) => path.join(root, file))].map((file) => readFileSync(file, 'utf8'))
  sourceHash = sha256(texts.join('\0'))
  return sourceHash
}

async function inTemporaryFolder<Result>(body: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(path.join(tmpdir(), 'agentgym-types-'))
  try {
    return await body(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** What the compiler prints. It exits with another status than 0 where it reports errors. */
function runCompiler(words: string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const settings = { cwd, timeout: 120_000, maxBuffer: 32 * 2 ** 20 }
    execFile(process.execPath, [compiler, ...words], settings, (error, stdout, stderr) => {
      if (error && typeof error.code !== 'number') reject(error)
      else if (error && stdout.trim() === '') reject(new Error(`tsc failed: ${stderr}`))
      else resolve(stdout)
    })
  })
}
