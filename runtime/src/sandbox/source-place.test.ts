import { AgentGymError } from '@agentgym/contract'
import { expect, test } from 'vitest'
import { buildScenario } from './build-scenario.ts'
import { checkScenario } from './check-scenario.ts'
import { codeFrame, locateFault, publishedSourceMap } from './source-place.ts'
import { countingScenario, validPackage, withFolder } from './testing/scenario-folder.ts'

const helper = `interface Counted { count: number }

export function assertSmall(state: Counted): void {
\tif (state.count > 2) throw new Error('too many')
}
`
const throwing = `import { assertSmall } from './assert-small.ts'
${countingScenario.replace('state.count += action', 'state.count += 1; assertSmall(state)')}`

test("a fault names the author's file and line, with a frame of code and a stack that is theirs alone", async () => {
  const files = { 'package.json': validPackage, 'src/index.ts': throwing, 'src/assert-small.ts': helper }
  const { checks } = await withFolder(files, (folder) => checkScenario(folder))
  const failed = checks.find(({ ok }) => !ok)
  expect(failed?.message).toContain('src/assert-small.ts:4: step threw: too many')
  expect(failed?.frame?.split('\n')).toEqual([
    'src/assert-small.ts:4:29',
    '  2 |',
    '  3 | export function assertSmall(state: Counted): void {',
    "> 4 |   if (state.count > 2) throw new Error('too many')",
    '    |                              ^',
    '  5 | }',
  ])
})

test('a fault inside an npm package is shown where the author calls it', async () => {
  const files = {
    'package.json': validPackage,
    'src/index.ts': throwing.replace('./assert-small.ts', 'strict'),
    'node_modules/strict/package.json': { name: 'strict', version: '1.0.0', main: 'index.js' },
    'node_modules/strict/index.js': 'exports.assertSmall = () => { throw new Error("never") }',
  }
  const { checks } = await withFolder(files, (folder) => checkScenario(folder))
  const failed = checks.find(({ ok }) => !ok)
  expect(failed?.message).toContain('src/index.ts:10: step threw: never')
  expect(failed?.frame).toContain('> 10 |     state.count += 1; assertSmall(state)')
})

test('what esbuild refuses comes with a frame, too', async () => {
  const files = { 'package.json': validPackage, 'src/index.ts': '// ü\nconst grüße = 1; const = 2\n' }
  const { checks } = await withFolder(files, (folder) => checkScenario(folder))
  expect(checks.find(({ ok }) => !ok)).toMatchObject({
    id: 'bundle',
    message: expect.stringContaining('src/index.ts:2: '),
  })
  expect(checks.find(({ ok }) => !ok)?.frame).toBe(
    'src/index.ts:2:24\n  1 | // ü\n> 2 | const grüße = 1; const = 2\n    |                        ^',
  )
})

test('a source map changes no byte of the bundle', async () => {
  const built = await withFolder({ 'package.json': validPackage, 'src/index.ts': countingScenario }, buildScenario)
  expect(built.source).not.toContain('sourceMappingURL')
  expect(JSON.parse(built.sourceMap ?? '').sources).toContain('../src/index.ts')
})

test('a stack that was made up shows nothing but the files of the author', async () => {
  const files = { 'package.json': validPackage, 'src/index.ts': countingScenario }
  const { source, sourceMap } = await withFolder(files, buildScenario)
  const error = (stack: string) => new AgentGymError({ code: 'scenario_threw', message: 'x', data: { stack } })
  for (const stack of [
    'at scenario.js:0:0',
    'at scenario.js:999999999:999999999',
    'at scenario.js:-1:4',
    'at /etc/passwd:1:1',
    '',
  ]) {
    const located = locateFault(error(stack), sourceMap)
    expect(['src/index.ts', undefined]).toContain(located.data.file)
    expect(located.data.frame ?? '').not.toContain('root:')
  }
  const line = 1 + source.split('\n').findIndex((text) => text.includes('state.count +='))
  const innermost = locateFault(error(`at f (scenario.js:${line}:5)\n    at step (agentgym:harness:1:2)\n`), sourceMap)
  expect(innermost.data.stack).toMatch(/^at f \(src\/index\.ts:\d+:\d+\)$/)
  const untouched = error('at scenario.js:1:1')
  expect(locateFault(untouched, undefined)).toBe(untouched)
})

test('a frame stays within the file, and cuts lines that are too long', () => {
  expect(codeFrame('one', { file: 'a.ts', line: 1, column: 2 })).toBe('a.ts:1:2\n> 1 | one\n    |  ^')
  const lines = codeFrame(`${'x'.repeat(1_000)}\n\n`, { file: 'a.ts', line: 1, column: 900 }).split('\n')
  expect(lines).toEqual(['a.ts:1:900', `> 1 | ${'x'.repeat(160)}`, '  2 |'])
})

test('a published package carries a map with the text of the files that it ships, which locates faults of its bundle', async () => {
  const files = {
    'package.json': validPackage,
    'src/index.ts': throwing,
    'src/assert-small.ts': helper,
  }
  await withFolder(files, async (folder) => {
    const scenario = await buildScenario(folder)
    expect(publishedSourceMap(scenario, new Set(['package.json']))).toBeUndefined()
    const map = publishedSourceMap(scenario, new Set(['src/index.ts'])) ?? ''
    expect(map).toContain('assertSmall(state)')
    expect(map).not.toContain('too many')

    // As it is installed: the bundle and the map.
    const published = { 'package.json': validPackage, 'dist/scenario.js': scenario.source }
    const failure = async (more: Record<string, string>) => {
      const { checks } = await withFolder({ ...published, ...more }, (folder) =>
        checkScenario(folder, { bundled: true }),
      )
      return checks.find(({ ok }) => !ok)
    }
    const whole = publishedSourceMap(scenario, new Set(['src/index.ts', 'src/assert-small.ts'])) ?? ''
    const located = await failure({ 'dist/scenario.js.map': whole })
    expect(located?.message).toContain('src/assert-small.ts:4: step threw: too many')
    expect(located?.frame).toContain("> 4 |   if (state.count > 2) throw new Error('too many')")
    // Without the text of a file, its name and line.
    const named = await failure({ 'dist/scenario.js.map': map })
    expect(named?.message).toContain('src/assert-small.ts:4: step threw: too many')
    expect(named?.frame).toBeUndefined()
    for (const odd of ['{', '[]', '{"version":3,"sources":["x"],"sourcesContent":[],"names":[],"mappings":"!"}']) {
      expect((await failure({ 'dist/scenario.js.map': odd }))?.message).toContain('step threw: too many')
    }
  })
})

test('without frames, no code is shown', async () => {
  const { source, sourceMap } = await withFolder(
    { 'package.json': validPackage, 'src/index.ts': throwing, 'src/assert-small.ts': helper },
    buildScenario,
  )
  const line = source.split('\n').findIndex((text) => text.includes('too many')) + 1
  const error = new AgentGymError({
    code: 'scenario_threw',
    message: 'step threw: too many',
    data: { stack: `Error: too many\n    at assertSmall (scenario.js:${line}:30)` },
  })
  const located = locateFault(error, sourceMap, { frames: false }) as AgentGymError
  expect(located.data).toMatchObject({ file: 'src/assert-small.ts', line: 4 })
  expect(located.data.frame).toBeUndefined()
})
