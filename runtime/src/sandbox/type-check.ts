import { execFile } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { AgentGymError } from '@agentgym/contract'
import type { BuiltScenario } from './build-scenario.ts'
import type { Check } from './checks/check-messages.ts'
import { codeFrame, type SourcePlace } from './source-place.ts'

const librarySource = fileURLToPath(import.meta.resolve('@agentgym/scenario'))
const globals = path.join(path.dirname(librarySource), '..', 'globals.d.ts')
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
      ...(installed ? {} : { paths: { '@agentgym/scenario': [librarySource] } }),
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
  if (errors.length === 0) return { id, ok: true, message: `no type errors${strict ? '' : ' (no tsconfig.json)'}` }
  const shown = errors.slice(0, 5).map(({ place, text }) => {
    return place === undefined ? text : `${place.file}:${place.line}:${place.column} ${text}`
  })
  const more = errors.length > shown.length ? `; and ${errors.length - shown.length} more` : ''
  const first = errors[0].place
  const frame = first && codeFrame(await readFile(path.resolve(root, first.file), 'utf8'), first)
  return {
    ...{ id, ok: !strict, message: `${shown.join('; ')}${more}` },
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
  const output = await runCompiler(
    [...options, '--strict', '--declaration', '--rewriteRelativeImportExtensions', '--outDir', dist, librarySource],
    path.dirname(librarySource),
  )
  if (output.trim() !== '') {
    throw new AgentGymError({ code: 'internal_error', message: `@agentgym/scenario does not compile: ${output}` })
  }
  await cp(globals, path.join(dist, 'globals.d.ts'))
  const declarations = path.join(dist, 'index.d.ts')
  const reference = '/// <reference path="./globals.d.ts" />\n'
  await writeFile(declarations, reference + (await readFile(declarations, 'utf8')))
  const source = JSON.parse(await readFile(path.join(path.dirname(librarySource), '..', 'package.json'), 'utf8'))
  const manifest = { ...source, exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } } }
  await writeFile(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
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
