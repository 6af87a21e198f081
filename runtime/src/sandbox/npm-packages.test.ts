// @module-tag full
import { symlinkSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { buildScenario } from './build-scenario.ts'
import { checkScenario } from './check-scenario.ts'
import { validPackage, withFolder } from './testing/scenario-folder.ts'

/** The packages of this workspace, as the author of a scenario has them. */
const nodeModules = fileURLToPath(new URL('../../node_modules', import.meta.url))

const entry = `
import { box, defineScenario, discrete } from '@agentgym/scenario'
import { Chess } from 'chess.js'
import { addDays, differenceInCalendarDays, format } from 'date-fns'
import { vec2 } from 'gl-matrix'
import seedrandom from 'seedrandom'
import * as z from 'zod'

const Move = z.object({ san: z.string().min(2), days: z.number().int().nonnegative() })
const START = new Date(2026, 0, 30)

type State = { board: Chess; place: vec2; random: () => number; days: number; id: string }

export default defineScenario({
  observation: box({ shape: [5] }),
  action: discrete({ n: 2 }),
  maxSteps: 20,
  reset: ({ rng }): State => ({
    board: new Chess(),
    place: vec2.fromValues(rng(), rng()),
    // Without a seed, it takes one from crypto, which follows the episode's seed as Math.random does.
    random: seedrandom(),
    days: 0,
    id: Math.random().toString(36).slice(2),
  }),
  step(state: State, action: number) {
    const moves = state.board.moves()
    const { san, days } = Move.parse({ san: moves[Math.floor(state.random() * moves.length)], days: action + 1 })
    state.board.move(san)
    const date = addDays(START, days)
    if (!/^\\d{4}-\\d\\d-\\d\\d$/.test(format(date, 'yyyy-MM-dd'))) throw new Error('no date')
    state.days += differenceInCalendarDays(date, START)
    vec2.add(state.place, state.place, vec2.random(vec2.create(), 0.1))
    return { reward: action + vec2.length(state.place), terminated: state.board.isGameOver() }
  },
  observe: ({ board, place, days, id }: State) => [board.moves().length, place[0], place[1], days, id.length],
})
`

/** Entropy mixes into a pool of the module. */
const pooled = entry.replace('seedrandom()', 'seedrandom(undefined, { entropy: true })')

/** Packages with a field for browsers, which a bundler for browsers takes, and their files for Node. */
const forBrowsers = {
  'node_modules/by-field/package.json': { name: 'by-field', version: '1.0.0', main: 'node.js', browser: 'browser.js' },
  'node_modules/by-field/node.js': "module.exports = require('fs')",
  'node_modules/by-field/browser.js': "module.exports = 'by field'",
  'node_modules/by-map/package.json': { name: 'by-map', version: '1.0.0', browser: { fs: false, './a.js': './b.js' } },
  'node_modules/by-map/index.js': "module.exports = [require('./a.js'), typeof require('fs').readFileSync]",
  'node_modules/by-map/a.js': "module.exports = require('node:os')",
  'node_modules/by-map/b.js': "module.exports = 'by map'",
  'node_modules/by-condition/package.json': {
    name: 'by-condition',
    version: '1.0.0',
    exports: { '.': { node: './node.js', browser: './browser.js', default: './node.js' } },
  },
  'node_modules/by-condition/node.js': "module.exports = require('crypto')",
  'node_modules/by-condition/browser.js': "export default 'by condition'",
  'node_modules/guarded/package.json': { name: 'guarded', version: '1.0.0', main: 'index.js' },
  'node_modules/guarded/index.js': "let c = null\ntry { c = require('crypto') } catch {}\nmodule.exports = 'guarded'",
}

describe('npm packages', () => {
  test('with a part for browsers are bundled with that part', async () => {
    const { source } = await withFolder(
      {
        'package.json': validPackage,
        ...forBrowsers,
        'src/index.ts': `import a from 'by-field'
import b from 'by-map'
import c from 'by-condition'
import d from 'guarded'
export default [a, b, c, d]`,
      },
      buildScenario,
    )
    for (const part of ['by field', 'by map', 'by condition', 'guarded']) expect(source).toContain(`"${part}"`)
    expect(source).not.toMatch(/require\("(fs|node:os)"\)/)
  })

  const check = (source: string) =>
    withFolder({ 'package.json': validPackage, 'src/index.ts': source }, (folder) => {
      symlinkSync(nodeModules, path.join(folder, 'node_modules'))
      return checkScenario(folder)
    })

  test('that are widely used run in the sandbox, and repeat bit for bit', async () => {
    const { checks } = await check(entry)
    expect(checks.filter(({ ok }) => !ok)).toEqual([])
    const ids = checks.map(({ id }) => id)
    expect(ids).toEqual(expect.arrayContaining(['determinism', 'processes', 'independence', 'replay', 'seeds_differ']))
  })

  test('that share state between environments fail the check of independence', async () => {
    expect(pooled).not.toBe(entry)
    const { checks } = await check(pooled)
    expect(checks.find(({ ok, message }) => !ok && !message.startsWith('not run'))).toMatchObject({
      id: 'independence',
    })
  })
})

describe('a module of Node', () => {
  const failure = (files: Record<string, string | object>) =>
    withFolder({ 'package.json': validPackage, ...files }, buildScenario).catch((error: unknown) => error)

  test('is refused with the shortest way of imports to it', async () => {
    const error = await failure({
      'src/index.ts': "import { deal } from './cards.ts'\nimport './other.ts'\nexport default deal",
      'src/other.ts': "import './cards.ts'",
      'src/cards.ts': "import shuffle from '@some/shuffle'\nexport const deal = () => shuffle",
      'node_modules/@some/shuffle/package.json': { name: '@some/shuffle', version: '1.0.0', main: 'lib/index.js' },
      'node_modules/@some/shuffle/lib/index.js': "module.exports = require('./read')",
      'node_modules/@some/shuffle/lib/read.js': "\nmodule.exports = require('fs').readFileSync",
    })
    const chain = ['src/index.ts', 'src/cards.ts', '@some/shuffle/lib/index.js', '@some/shuffle/lib/read.js', 'fs']
    expect(error).toMatchObject({
      code: 'scenario_build_failed',
      message: expect.stringContaining(`read.js:2: "fs" is Node's own module`),
      hint: expect.stringContaining('instead of @some/shuffle'),
      data: { import: 'fs', chain },
    })
    expect((error as Error).message).toContain(`(${chain.join(' → ')})`)
  })

  test.for([
    ['fs', 'import data from'],
    ['node:crypto', '`rng`'],
    ['http', 'Simulate'],
    ['events', 'npm install events'],
    ['node:events', 'import "events"'],
  ])('%s of the author: %s', async ([module, hint]) => {
    const error = await failure({ 'src/index.ts': `import * as it from '${module}'\nexport default it` })
    expect(error).toMatchObject({
      hint: expect.stringContaining(hint),
      data: { import: module, chain: ['src/index.ts', module], file: 'src/index.ts', line: 1 },
    })
  })
})
