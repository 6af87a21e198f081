import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { AgentGymError } from '@agentgym/contract'
import { describe, expect, test } from 'vitest'
import { type BuiltScenario, buildScenario, identityOf, loadScenario, writeBuild } from './build-scenario.ts'
import { countingScenario, validManifest, validPackage, withFolder } from './testing/scenario-folder.ts'

const files = { 'package.json': validPackage, 'src/index.ts': countingScenario }

function buildOf(content: Record<string, string | object>, parent?: string): Promise<BuiltScenario> {
  return withFolder(content, buildScenario, parent)
}

async function failureOf(content: Record<string, string | object>): Promise<AgentGymError> {
  const error = await buildOf(content).catch((reason: unknown) => reason)
  if (!(error instanceof AgentGymError)) throw new Error(`not a typed failure: ${String(error)}`)
  return error
}

describe('building', () => {
  test('gives a CommonJS script with our own copy of @agentgym/scenario, and its hash', async () => {
    const scenario = await buildOf(files)
    expect(scenario.source).toContain('defineScenario')
    expect(scenario.source).not.toMatch(/require\(/)
    expect(scenario.hash).toBe(createHash('sha256').update(scenario.source).digest('hex'))
    expect(identityOf(scenario)).toEqual({ name: '@t/made', version: '1.0.0', hash: scenario.hash })
  })

  test('gives the same bytes wherever the folder lies', async () => {
    const deep = path.join(tmpdir(), `agentgym-deep-${process.pid}`, 'a', 'b')
    mkdirSync(deep, { recursive: true })
    expect((await buildOf(files, deep)).source).toBe((await buildOf(files)).source)
    rmSync(path.join(deep, '..', '..'), { recursive: true })
  })

  describe('gives one hash whatever Git made of the line ends (C07)', () => {
    const content = {
      'src/index.ts': `import rules from './rules.txt'
import data from './data.json'
import { title } from './title.jsx'
import legacy from './legacy.cjs'
${countingScenario}
export const kept = [rules, data, title, legacy, String.raw\`raw
lines\`, \`several
lines of \${data.name}
\`, 'conti\\
nued', Math.max(1, /* a comment
of two lines */ 2, // and another
3)]
`,
      'src/title.jsx': `const h = (...parts) => parts\nexport const title = <p title="two\nlines">one\n  two</p>\n`,
      'src/legacy.cjs': 'module.exports = `\n\n`\n',
      'src/rules.txt': 'First rule\nSecond rule\n',
      'src/data.json': '{\n  "name": "data"\n}\n',
    }
    const tsconfig = { compilerOptions: { jsx: 'react', jsxFactory: 'h' } }
    const buildWith = (change: (text: string) => string) => {
      const changed = Object.entries({ ...content, 'tsconfig.json': JSON.stringify(tsconfig, null, 2) })
      const files = Object.fromEntries(changed.map(([name, text]) => [name, change(text)]))
      return buildOf({ 'package.json': change(JSON.stringify(validPackage, null, 2)), ...files })
    }

    test.for<[string, (text: string) => string]>([
      ['CRLF', (text) => text.replaceAll('\n', '\r\n')],
      ['a byte order mark', (text) => `\uFEFF${text}`],
      ['both', (text) => `\uFEFF${text.replaceAll('\n', '\r\n')}`],
      ['some of each', (text) => text.replace('\n', '\r\n')],
    ])('%s', async ([, change]) => {
      const plain = await buildWith((text) => text)
      const changed = await buildWith(change)
      expect(changed.source).toBe(plain.source)
      expect(changed.hash).toBe(plain.hash)
      expect(plain.source).toContain('First rule\\nSecond rule\\n')
    })

    test('a carriage return that the author wrote stays', async () => {
      const entry = `import rules from './rules.txt'\n${countingScenario}\nexport const kept = ['a\\r\\nb', rules]\n`
      const { source } = await buildOf({
        'package.json': validPackage,
        'src/index.ts': entry,
        'src/rules.txt': 'é\rb\r\n',
      })
      expect(source).toContain('"a\\r\\nb"')
      expect(source).toContain('"é\\rb\\n"')
    })
  })

  test('takes a tsconfig.json of the folder, never one further up', async () => {
    const content = {
      ...files,
      'src/index.ts': `${countingScenario}
export class Kept { field = 1 }`,
    }
    const outer = { 'tsconfig.json': { compilerOptions: { useDefineForClassFields: false } } }
    const inner = await withFolder(outer, (folder) => buildOf(content, folder))
    expect(inner.hash).toBe((await buildOf(content)).hash)
  })

  test('bundles npm dependencies and JSON of the folder', async () => {
    const { source } = await buildOf({
      ...files,
      'node_modules/events/package.json': { name: 'events', version: '3.0.0', main: 'index.js' },
      'node_modules/events/index.js': "module.exports = 'the package, not the built-in'",
      'src/data.json': { answer: 42 },
      'src/index.ts': `import events from 'events'\nimport data from './data.json'\n${countingScenario}\nexport const kept = [events, data]`,
    })
    expect(source).toContain('the package, not the built-in')
    expect(source).toContain('42')
  })
})

describe('an installed package', () => {
  test('is its dist/scenario.js, as it is', async () => {
    const source = 'module.exports = { default: {} }\n'
    const content = { 'package.json': validPackage, 'dist/scenario.js': source }
    expect(await withFolder(content, loadScenario)).toMatchObject({
      source,
      hash: createHash('sha256').update(source).digest('hex'),
    })
  })

  test('a folder with its sources is built anew, whatever dist holds', async () => {
    const scenario = await withFolder({ ...files, 'dist/scenario.js': 'old' }, loadScenario)
    expect(scenario.source).toContain('defineScenario')
  })

  test('writeBuild writes what buildScenario gives', () =>
    withFolder(files, async (folder) => {
      const written = await writeBuild(folder)
      expect(written.path).toBe(path.join(folder, 'dist', 'scenario.js'))
      expect(readFileSync(written.path, 'utf8')).toBe(written.source)
      rmSync(path.join(folder, 'src'), { recursive: true })
      expect((await loadScenario(folder)).hash).toBe(written.hash)
    }))
})

describe('what cannot be built', () => {
  test.for([
    ["import { readFileSync } from 'node:fs'\nexport default readFileSync", 'node:fs', 1],
    ["\nimport path from 'path'\nexport default path", 'path', 2],
    ["const load = () => import('node:child_process')\nexport default load", 'node:child_process', 1],
    ["export { default } from 'worker_threads'", 'worker_threads', 1],
  ] as const)('a module of Node: %s', async ([entry, name, line]) => {
    const error = await failureOf({ 'package.json': validPackage, 'src/index.ts': entry })
    expect(error).toMatchObject({
      code: 'scenario_build_failed',
      message: expect.stringContaining(`src/index.ts:${line}: "${name}"`),
      hint: expect.stringContaining('without Node'),
      data: { scenario: '@t/made', version: '1.0.0', file: 'src/index.ts', line, import: name },
    })
  })

  test.for([
    ["import missing from 'not-installed'\nexport default missing", 'not-installed', 'Install'],
    ['export default {', 'src/index.ts:1: Expected', 'line'],
    [
      "import { createEngine } from '@agentgym/scenario/engine'\nexport default createEngine",
      '@agentgym/scenario/engine',
      '',
    ],
    ['export default await Promise.resolve(1)', 'Top-level await', 'import'],
  ] as const)('%s', async ([entry, text, hint]) => {
    const error = await failureOf({ 'package.json': validPackage, 'src/index.ts': entry })
    expect(error.code).toBe('scenario_build_failed')
    expect(error.message).toContain(text)
    expect(error.hint).toContain(hint)
    expect(error.data.line).toBeGreaterThan(0)
  })
})

describe('data of the folder', () => {
  test('JSON and text are imported, with or without attributes', async () => {
    const { source } = await buildOf({
      ...files,
      'src/cases.json': [{ answer: 42 }],
      'src/words.txt': 'one\ntwo\n',
      'src/index.ts': `import cases from './cases.json' with { type: 'json' }
import words from './words.txt'
${countingScenario}
export const kept = [cases[0].answer, words.split('\\n')]`,
    })
    expect(source).toContain('answer: 42')
    expect(source).toContain('one\\ntwo')
  })

  test('too much of it is refused with the largest files', async () => {
    const error = await failureOf({
      ...files,
      'src/small.txt': 'small'.repeat(1000),
      'src/large.txt': 'x'.repeat(33 * 2 ** 20),
      'src/index.ts': `import large from './large.txt'\nimport small from './small.txt'\nexport default [large, small]`,
    })
    expect(error).toMatchObject({ code: 'scenario_build_failed', data: { phase: 'bundle' } })
    expect(error.message).toMatch(
      /has 33\.0 MiB, and may have 32\.0 MiB\. Largest files: src\/large\.txt \(33\.0 MiB\), src\/small/,
    )
  })
})

describe('what package.json must say', () => {
  const packageWith = (changes: object) => ({ ...validPackage, agentgym: { ...validManifest, ...changes } })
  const { agentgym: _, ...withoutManifest } = validPackage

  test.for<[string, Record<string, string | object>, string, RegExp]>([
    ['none', {}, 'package.json', /is missing/],
    ['not JSON', { 'package.json': '{ "name": }' }, 'package.json', /not valid JSON/],
    ['no agentgym', { 'package.json': withoutManifest }, 'agentgym', /is missing/],
    ['no title', { 'package.json': packageWith({ title: undefined }) }, 'agentgym.title', /is missing/],
    ['a wrong difficulty', { 'package.json': packageWith({ difficulty: 'hard' }) }, 'agentgym.difficulty', /invalid/],
    ['an agent', { 'package.json': packageWith({ kind: 'agent' }) }, 'agentgym.kind', /invalid/],
    ['a typing slip', { 'package.json': packageWith({ sucess: {} }) }, 'agentgym.sucess', /not a known field/],
    ['an upper-case name', { 'package.json': { ...validPackage, name: 'Maze' } }, 'name', /invalid/],
    ['no version', { 'package.json': { ...validPackage, version: undefined } }, 'version', /is missing/],
    ['a way out', { 'package.json': packageWith({ entry: '../x.ts' }) }, 'agentgym.entry', /leads out/],
  ])('%s', async ([, content, field, message]) => {
    const error = await failureOf(content)
    expect(error).toMatchObject({ code: 'manifest_invalid', exit: 2, data: { field } })
    expect(error.message).toMatch(message)
    expect(error.hint, error.message).toBeTruthy()
  })

  test('suggests the field that was meant', async () => {
    expect((await failureOf({ 'package.json': packageWith({ sucess: {} }) })).hint).toBe('Did you mean "success"?')
  })

  test('a folder or an entry that does not exist', async () => {
    const nowhere = path.join(tmpdir(), 'agentgym-nowhere')
    expect(existsSync(nowhere)).toBe(false)
    await expect(buildScenario(nowhere)).rejects.toMatchObject({ code: 'file_not_found', exit: 2 })
    expect(await failureOf({ 'package.json': validPackage })).toMatchObject({
      code: 'file_not_found',
      data: { field: 'agentgym.entry' },
    })
  })
})
