// @module-tag full
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type CheckReport, checkReportSchema } from '@agentgym/contract'
import { type Browser, openChromium, openVisitor } from '@agentgym/testkit/browser'
import { writeReadme } from '@agentgym/testkit/command-line'
import { createCanvas, loadImage } from '@napi-rs/canvas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openRegistry, type Person, type Registry } from './registry-people.ts'
import { typeOnTerminal } from './type-on-terminal.ts'

/** A machine that is busy with other tests takes its time. */
const patienceMs = 300_000
vi.setConfig({ testTimeout: patienceMs })

const command = fileURLToPath(new URL('../../../agentgym', import.meta.url))
const packageFolder = (name: string) => dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
const run = promisify(execFile)

let registry: Registry
let ann: Person
let browser: Browser
let puck: string
/** The scenario as `init` wrote it. */
let written: string

beforeAll(async () => {
  registry = await openRegistry()
  ann = registry.person('ann')
  await ann.join()
  browser = await openChromium()
  puck = join(ann.work, 'puck')
}, patienceMs)
afterAll(async () => {
  await browser?.close()
  await registry?.close()
})

const entry = () => join(puck, 'src/index.ts')
/** Puts `line` before the line of the entry that contains `before`; resolves to its number. */
function plant(before: string, line: string): number {
  const lines = written.split('\n')
  const at = lines.findIndex((text) => text.includes(before))
  expect(at).toBeGreaterThan(0)
  writeFileSync(entry(), lines.toSpliced(at, 0, line).join('\n'))
  return at + 1
}

/** Number of different colors: 1 of a blank picture. */
async function colorsOf(picture: string | Buffer): Promise<number> {
  const image = await loadImage(picture)
  const canvas = createCanvas(image.width, image.height)
  canvas.getContext('2d').drawImage(image, 0, 0)
  const { data } = canvas.getContext('2d').getImageData(0, 0, image.width, image.height)
  return new Set(new Uint32Array(data.buffer)).size
}

async function done(...words: string[]): Promise<unknown[]> {
  const { status, stdout, stderr, lines } = await ann.run([...words, '--json'])
  expect(status, `${stdout}${stderr}`).toBe(0)
  return lines
}

async function checked(): Promise<CheckReport> {
  return checkReportSchema.parse((await ann.run(['scenario', 'check', 'puck', '--json'])).lines[0])
}

describe("a newcomer's hour", () => {
  it('begins with a folder whose types resolve and whose tests pass, without an install', async () => {
    await done('scenario', 'init', 'puck', '--yes', '--name', '@ann/puck')
    written = readFileSync(entry(), 'utf8')
    expect(await done('scenario', 'test', 'puck')).toMatchObject([{ ok: true, passed: 3 }])
    symlinkSync(packageFolder('vitest'), join(puck, 'node_modules/vitest'))
    const { stdout } = await run(process.execPath, [join(packageFolder('typescript'), 'bin/tsc'), '-p', puck])
    expect(stdout).toBe('')
  })

  it('installs the library with npm from the server, with types', async () => {
    const folder = join(ann.root, 'installed')
    expect((await ann.run(['login', '--username', 'ann', '--scope', 'agentgym'])).status).toBe(0)
    mkdirSync(folder)
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
    const env = { PATH: process.env.PATH, HOME: ann.root, npm_config_userconfig: ann.npmrc }
    const quiet = ['--no-fund', '--no-update-notifier', '--cache', join(ann.root, 'npm-cache')]
    await run('npm', ['install', '@agentgym/scenario', ...quiet], { cwd: folder, env })
    writeFileSync(
      join(folder, 'test.ts'),
      "import { box } from '@agentgym/scenario'\nimport { playEpisode } from '@agentgym/scenario/testing'\nexport const found: string = box({ shape: [1] })\nplayEpisode\n",
    )
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--types', '', 'test.ts']
    const { stdout } = await run(process.execPath, [join(packageFolder('typescript'), 'bin/tsc'), ...options], {
      cwd: folder,
    }).catch((error) => error)
    // The one error that is planted: the others would say that the types do not resolve.
    expect(stdout.match(/error TS\d+/g)).toEqual(['error TS2322'])
  })

  it('shows a throw with file, line and frame, in the check and in the tests', async () => {
    const line = plant('state.steps += 1', "    if (state.steps === 3) throw new Error('lost at sea')")
    const failed = (await checked()).checks.find(({ ok }) => !ok)
    expect(failed?.message).toContain(`src/index.ts:${line}: `)
    expect(failed?.message).toContain('lost at sea')
    expect(failed?.frame).toMatch(new RegExp(`^> +${line} \\|.*lost at sea`, 'm'))
    const tests = await ann.run(['scenario', 'test', 'puck', '--json'])
    expect(tests).toMatchObject({ status: 1, lines: [{ ok: false }] })
    const report = tests.lines[0] as { tests: { message?: string; line?: number }[] }
    expect(report.tests.at(-1)).toMatchObject({ message: 'lost at sea', line })
  })

  it('shows what the scenario logs', async () => {
    plant('state.steps += 1', "    if (state.steps === 3) console.log('third step', state.target > 0)")
    const { stdout } = await ann.run(['scenario', 'check', 'puck'])
    expect(stdout).toMatch(/\| step 4 of environment \d {2}third step (true|false)/)
  })

  it('names a slow function in the profile', async () => {
    const line = plant(
      '/** How far the puck',
      'function slow(): number {\n  let sum = 0\n  for (let i = 0; i < 20000; i += 1) sum += Math.sin(i)\n  return sum\n}',
    )
    const text = readFileSync(entry(), 'utf8')
    writeFileSync(entry(), text.replace('state.steps += 1', 'state.steps += slow() > 1e9 ? 2 : 1'))
    const [profile] = (await done('scenario', 'profile', 'puck')) as {
      functions: { name: string; self: number; file: string; line: number }[]
    }[]
    const [first] = profile.functions.toSorted((a, b) => b.self - a.self)
    expect(first).toMatchObject({ name: 'slow', file: 'src/index.ts', line })
    writeFileSync(entry(), written)
  })

  it.runIf(process.platform === 'linux')('is played by a person, and watched', async () => {
    const environment = { AGENTGYM_WITHOUT_WALLS: 'any', AGENTGYM_HOME: ann.home }
    const output = await typeOnTerminal(`'${command}' play puck --episodes 1 --seed 7 --record mine.jsonl`, {
      ...{ keys: `${'3'.repeat(60)}nq`, when: 'q quit' },
      ...{ environment, cwd: ann.work },
    })
    expect(output).toContain('✓ episode 1: 60 steps')
    const recorded = readFileSync(join(ann.work, 'mine.jsonl'), 'utf8').trim().split('\n')
    expect(JSON.parse(recorded[1]).actions).toHaveLength(60)
    plant('state.steps += 1', "    if (state.steps === 3) console.log('third step')")
    await done('train', 'puck', '--out', 'agent', '--seed', '1', '--steps', '4096', '--set', 'evaluation_episodes=10')
    const { stdout } = await ann.run(['eval', 'agent', '--episodes', '2'])
    expect(stdout).toMatch(/\| step 4 of environment \d {2}third step/)
    const steps = (await done('watch', 'agent', '--episodes', '1')) as { step: number; end?: string }[]
    expect(steps.at(-1)).toMatchObject({ step: 60, end: 'truncated' })
  })

  it.each(['html', 'gif', 'png'])('renders an episode as .%s, which a browser shows', async (ending) => {
    await done('eval', 'agent', '--episodes', '1', '--render', `episode.${ending}`)
    const { page, context, complaints } = await openVisitor(browser, { viewport: { width: 900, height: 700 } })
    await page.goto(`file://${join(ann.work, `episode.${ending}`)}`)
    if (ending !== 'html') {
      expect(
        await page.locator('img').evaluate((image: { naturalWidth: number }) => image.naturalWidth),
      ).toBeGreaterThan(100)
    }
    expect(await colorsOf(await page.screenshot())).toBeGreaterThan(20)
    expect(complaints).toEqual([])
    await context.close()
  })

  it('is refused while the README has placeholders, and published with its view once it is written', async () => {
    const refused = await ann.run(['scenario', 'publish', 'puck', '--json'])
    expect(refused).toMatchObject({ status: 2, lines: [{ error: { code: 'package_readme_placeholder' } }] })
    expect(JSON.stringify(refused.lines)).toContain('README.md line 3 is a placeholder: [REPLACE: ')
    writeReadme(puck, 'Hold a puck on its target.')
    expect(await done('scenario', 'publish', 'puck')).toMatchObject([{ ok: true, state: 'published' }])

    // Still, or the view is replaced by its next step while the picture is taken.
    const { page, context, complaints } = await openVisitor(browser, {
      viewport: { width: 1200, height: 900 },
      reducedMotion: 'reduce',
    })
    await page.goto(`${registry.server.url}/packages/@ann/puck`)
    expect(await page.getByText('Hold a puck on its target.').count()).toBeGreaterThan(0)
    const view = page.locator('main svg').filter({ hasText: 'distance to the target' }).first()
    await view.scrollIntoViewIfNeeded()
    expect(await colorsOf(await view.screenshot())).toBeGreaterThan(5)
    expect(complaints).toEqual([])
    await context.close()
  })
})
