// @module-tag full
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { frozenPolicy } from '@agentgym/scenario'
import { playEpisode } from '@agentgym/scenario/testing'
import { createCanvas, loadImage } from '@napi-rs/canvas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import cartPole from '../../../plugins/cart-pole/src/index.ts'
import { type Browser, openChromium, openVisitor } from '../../../testkit/src/browser.ts'
import { runCli } from '../../../testkit/src/command-line.ts'
import { typeOnTerminal } from './type-on-terminal.ts'

const agentgym = fileURLToPath(new URL('../../../agentgym', import.meta.url))
const enterScreen = '\u001b[?1049h'
const leaveScreen = '\u001b[?1049l'

/** A machine that is busy with other tests takes its time. */
const patienceMs = 300_000
vi.setConfig({ testTimeout: patienceMs })

let folder: string
let agent: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentgym-playing-'))
  agent = join(folder, 'agents/cart-pole')
  const trained = await runCli(['train', 'cart-pole', '--steps', '4000', '--seed', '3', '--out', agent], {
    cwd: folder,
  })
  expect(trained.stderr).toBe('')
}, patienceMs)
afterAll(() => rm(folder, { recursive: true, force: true }))

const typed = (words: string, options: { keys?: string; when?: string } = {}) =>
  typeOnTerminal(`'${agentgym}' ${words}`, {
    ...options,
    cwd: folder,
    environment: { AGENTGYM_WITHOUT_WALLS: 'any', AGENTGYM_HOME: join(folder, 'home') },
  })

/** A terminal's output as text: a line for each that was drawn, without styles. */
function plain(output: string): string {
  const [first, ...rest] = output.split('\u001b[')
  return first + rest.map((part) => part.replace(/^\d+;\d+H/, '\n').replace(/^[\d;?]*[a-zA-Z]/, '')).join('')
}

describe.runIf(process.platform === 'linux')('agentgym watch', () => {
  it('draws on the whole terminal until the episodes are over, and leaves it as it was', async () => {
    const output = await typed('watch agents/cart-pole --episodes 1 --speed 512')
    const [before, screen = ''] = output.split(enterScreen)
    expect(before).not.toContain('step')
    const shown = screen.slice(0, screen.indexOf(leaveScreen))
    expect(plain(shown)).toMatch(/cart-pole@1\.0\.0 · episode 1 of 1 · seed 0/)
    expect(plain(shown)).toMatch(/step 3 · (left|right) · reward 1 · return 3/)
    expect(plain(shown)).toMatch(/next: (left|right) \d+%/)
    // The pole, in dots.
    expect(shown).toMatch(/[\u2801-\u28ff]{3}/)
    expect(plain(screen.slice(screen.indexOf(leaveScreen)))).toMatch(/✓ episode 1: \d+ steps, return \d+/)
  })

  it('q ends it at once', async () => {
    const output = await typed('watch agents/cart-pole --speed 0.25', { keys: 'q', when: 'q quit' })
    expect(output).toContain(leaveScreen)
    expect(plain(output)).not.toContain('step 1 ')
  })

  it('without a terminal prints each step and plays what eval plays', async () => {
    const { status, lines } = await runCli(['watch', agent, '--episodes', '2', '--seed', '5', '--json'], {
      cwd: folder,
    })
    expect(status).toBe(0)
    const steps = lines as {
      episode: number
      step: number
      likely: { probability: number }[]
      return: number
      end?: string
    }[]
    const ends = steps.filter(({ end }) => end !== undefined)
    expect(ends.map(({ episode }) => episode)).toEqual([0, 1])
    for (const { likely } of steps) {
      expect(likely.reduce((sum, { probability }) => sum + probability, 0)).toBeCloseTo(1, 3)
      expect(likely[0].probability).toBeGreaterThanOrEqual(likely[1].probability)
    }
    const evaluated = await runCli(['eval', agent, '--episodes', '2', '--seed', '5', '--json'], { cwd: folder })
    const mean = ends.reduce((sum, end) => sum + end.return, 0) / 2
    expect((evaluated.lines[0] as { return_mean: number }).return_mean).toBeCloseTo(mean, 6)
  })
})

describe.runIf(process.platform === 'linux')('agentgym agent export', () => {
  it('writes weights that a scenario plays as the agent plays', async () => {
    const { status, lines } = await runCli(['agent', 'export', agent, 'weights.json', '--json'], { cwd: folder })
    expect(status).toBe(0)
    const path = join(folder, 'weights.json')
    expect(lines).toMatchObject([{ file: path, format: 'weights', scenario: '@agentgym/cart-pole@1.0.0' }])
    const policy = frozenPolicy(JSON.parse(await readFile(path, 'utf8')))
    const played = await playEpisode(cartPole, (observation) => policy.choose(observation), {
      ...{ seed: 5, task: { split: 'eval' } },
    })
    const watched = await runCli(['watch', agent, '--episodes', '1', '--seed', '5', '--json'], { cwd: folder })
    expect(played.actions).toEqual((watched.lines as { action: number[] }[]).map(({ action }) => action[0]))
  })

  it('refuses what is no agent', async () => {
    const { status, lines } = await runCli(['agent', 'export', 'nobody', 'weights.json', '--json'], { cwd: folder })
    expect(status).toBe(2)
    expect(lines).toMatchObject([{ error: { code: 'file_not_found' } }])
  })
})

describe.runIf(process.platform === 'linux')('agentgym play', () => {
  it('a person plays with keys; the recorded episode gives the same bits again, and a changed one does not', async () => {
    // Blind steering to one side: the pole falls, and the episode ends within a dozen steps.
    const keys = `${'\u001b[C'.repeat(30)}`
    const output = await typed('play cart-pole --episodes 1 --seed 7 --record mine.jsonl', {
      keys: `${keys}nq`,
      when: 'q quit',
    })
    expect(plain(output)).toMatch(/\[←\/1\] left {2}\[→\/2\] right/)
    expect(output).toContain(leaveScreen)
    expect(plain(output)).toMatch(/✓ episode 1: \d+ steps, return \d+/)
    const path = join(folder, 'mine.jsonl')
    const [head, episode] = (await readFile(path, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(head).toMatchObject({
      format: 'agentgym-demonstrations',
      seed: 7,
      scenario: { name: '@agentgym/cart-pole' },
    })
    expect(episode.actions.every(([action]: number[]) => action === 1)).toBe(true)
    expect(episode.rewards).toHaveLength(episode.actions.length)
    const replay = (file: string) => runCli(['play', 'cart-pole', '--replay', file, '--json'], { cwd: folder })
    const same = await replay('mine.jsonl')
    expect(same).toMatchObject({ status: 0, lines: [{ episode: 0, same: true, difference: null }] })
    const changed = { ...episode, actions: [[0], ...episode.actions.slice(1)] }
    await writeFile(join(folder, 'other.jsonl'), `${JSON.stringify(head)}\n${JSON.stringify(changed)}\n`)
    expect(await replay('other.jsonl')).toMatchObject({ status: 1, lines: [{ same: false }] })
    await writeFile(join(folder, 'broken.jsonl'), `${JSON.stringify(head)}\n{"episode":0}\n`)
    const broken = await runCli(['play', 'cart-pole', '--replay', 'broken.jsonl'], { cwd: folder })
    expect(broken.status).not.toBe(0)
    expect(broken.stderr).toContain('Line 2 of broken.jsonl')
  })

  it('tools are asked for one after the other, with their arguments', async () => {
    const keys = '12150\r1n'
    const output = await typed('play returns-desk --episodes 1', { keys: `${keys}q`, when: 'q quit' })
    expect(plain(output)).toMatch(/type a number \(0 to 100\) and Enter/)
    expect(plain(output)).toMatch(/refund\(order: orders\[0\], percent: 50, reason: "\w+"\)/)
    expect(plain(output)).toMatch(/solved [01]/)
  })

  it('real time goes on without keys', async () => {
    const output = await typed('play cart-pole --fps 200 --default left --episodes 1', {
      keys: 'q',
      when: 'next episode · q quit',
    })
    expect(plain(output)).toMatch(/✓ episode 1: \d+ steps/)
  })

  it('needs a terminal, and names what it cannot do', async () => {
    const piped = await runCli(['play', 'cart-pole'], { cwd: folder })
    expect(piped.status).toBe(2)
    expect(piped.stderr).toContain('needs a terminal')
  })
})

describe('agentgym eval --render', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openChromium()
  }, patienceMs)
  afterAll(() => browser.close())

  const render = (file: string, ...words: string[]) =>
    runCli(['eval', agent, '--episodes', '1', '--seed', '5', '--render', file, ...words], { cwd: folder })

  it('writes a page that plays by itself, loads nothing, and can be steered', async () => {
    expect(await render('episode.html', '--beside', 'random')).toMatchObject({ status: 0 })
    const { page, context, complaints } = await openVisitor(browser, { colorScheme: 'dark' })
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    await page.goto(`file://${join(folder, 'episode.html')}`)
    const frame = () => page.locator('.stage').first().innerHTML()
    const first = await frame()
    await expect.poll(frame).not.toBe(first)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.keyboard.press('End')
    const [, last] = ((await page.locator('#at').textContent()) ?? '').split(' / ')
    expect(await page.locator('#at').textContent()).toBe(`${last} / ${last}`)
    await page.keyboard.press('ArrowLeft')
    expect(await page.locator('#at').textContent()).toBe(`${Number(last) - 1} / ${last}`)
    expect(await page.locator('.panel').count()).toBe(2)
    expect(await page.locator('.likely').first().textContent()).toMatch(/(left|right)\d+%/)
    expect(requests).toHaveLength(1)
    expect(complaints).toEqual([])
    await context.close()
  })

  it('writes a PNG of a step and an animated GIF', async () => {
    expect(await render('end.png', '--theme', 'dark')).toMatchObject({ status: 0 })
    expect(await render('start.png', '--step', '0')).toMatchObject({ status: 0 })
    const colors = async (file: string) => {
      const image = await loadImage(join(folder, file))
      const canvas = createCanvas(image.width, image.height)
      canvas.getContext('2d').drawImage(image, 0, 0)
      const { data } = canvas.getContext('2d').getImageData(0, 0, image.width, image.height)
      return new Set(new Uint32Array(data.buffer))
    }
    expect((await colors('end.png')).size).toBeGreaterThan(20)
    expect(await colors('start.png')).not.toEqual(await colors('end.png'))
    expect(await render('episode.gif')).toMatchObject({ status: 0 })
    const gif = await readFile(join(folder, 'episode.gif'))
    expect(gif.subarray(0, 6).toString()).toBe('GIF89a')
    // Each frame begins with a graphic control extension of this form.
    const frames = gif.toString('latin1').split('\u0021\u00f9\u0004').length - 1
    expect(frames).toBeGreaterThan(5)
    expect(gif.length).toBeLessThan(1_000_000)
    expect((await colors('episode.gif')).size).toBeGreaterThan(5)
  })

  it.for([
    [['--render', 'episode.bmp'], 'is no HTML, GIF or PNG file'],
    [['--render', 'episode.gif', '--step', '3'], '--step chooses the picture of a PNG'],
    [['--beside', 'random'], 'need --render FILE'],
  ] as const)('refuses %j before anything is played', async ([words, message]) => {
    const { status, stderr } = await runCli(['eval', agent, ...words], { cwd: folder })
    expect(status).toBe(2)
    expect(stderr).toContain(message)
  })
})
