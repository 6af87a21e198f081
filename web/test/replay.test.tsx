// @module-tag full
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { SampleEpisode } from '@agentgym/contract'
import { findChromium } from '@agentgym/testkit/browser'
import { openTestSite, type TestSite } from '@agentgym/testkit/site'
import { isLong } from '@agentgym/testkit/tier'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sampleEpisode } from '../../testdata/episodes/sample-episode.ts'
import { route } from '../src/app/route.ts'
import { readSiteAssets } from '../src/app/site-assets.ts'
import { PackagePicture } from '../src/components/package-list.tsx'
import { pictureRoutes } from '../src/pages/pictures.ts'
import { Replay } from '../src/pictures/replay.tsx'
import { openPublisher } from './publish-sampled.ts'

const STEPS = 12
const hostile = '<img src=x onerror=document.title=1>'

/** A cart that goes from one end of its track to the other. */
const cart = sampleEpisode({
  view: { kind: 'cart', position: 0, angle: 1, track: { low: 0, high: STEPS } },
  steps: Array.from({ length: STEPS }, (_, at) => ({
    observation: [at, at / 20],
    texts: [],
    action: [at % 2],
    reward: 1,
  })),
  last: { observation: [STEPS, 0.6], texts: [] },
})

const ticket = 'مرحبا، لا أستطيع تسجيل الدخول'
const transcript = sampleEpisode({
  view: { kind: 'transcript', facts: ['customer found', hostile] },
  observation: [
    { name: 'ticket', kind: 'text', size: 0, shape: [1] },
    { name: 'found', kind: 'box', size: 2, shape: [2] },
  ],
  action: [{ name: '', kind: 'discrete', size: 1, shape: [1], labels: ['lookup_user', hostile] }],
  steps: [
    { observation: [0, 0], texts: [ticket], action: [0], reward: 10 },
    { observation: [1, 0], texts: [ticket], action: [1], reward: -20 },
  ],
  last: { observation: [1, -1], texts: [ticket] },
})

/** The same cart, driven by a policy with probabilities, over half of the steps. */
const driven = sampleEpisode({
  ...cart,
  policy: 'agent',
  steps: cart.steps.slice(0, STEPS / 2).map((step) => ({
    ...step,
    likely: [
      { choice: step.action[0], probability: 0.875 },
      { choice: 1 - step.action[0], probability: 0.125 },
    ],
  })),
})

const shown: Record<string, SampleEpisode> = { cart, transcript, driven }
const player = (name: string, label: string) => ({ label, name: `@acme/${name}`, version: '1.0.0' })
const routes = [
  ...pictureRoutes,
  route('get', '/replay/:name', { access: 'public' }, (visit) => {
    const { name } = visit.params
    const other = visit.query.get('beside')
    const players = [player(name, 'Random'), ...(other === null ? [] : [player(other, 'Best agent')])] as const
    const body = (
      <>
        <h1>Sample episode</h1>
        <Replay players={[players[0], ...players.slice(1)]} episode={shown[name]} />
        <ul class="cards">
          <li class="card">
            <PackagePicture name={`@acme/${name}`} version="1.0.0" />
            <a href="/">Card</a>
          </li>
        </ul>
        <svg class="tall" width="10" height="3000" aria-hidden="true" />
      </>
    )
    return visit.page(body, { title: 'Replay' })
  }),
]
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

let site: TestSite
let browser: Browser
beforeAll(async () => {
  execFileSync(process.execPath, [join(import.meta.dirname, '../build.ts')])
  site = await openTestSite({ routes, assets: readSiteAssets(join(import.meta.dirname, '../dist/client')) })
  const { publish } = await openPublisher(site)
  for (const [base, episode] of Object.entries(shown)) await publish(base, episode)
  browser = await chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox'] })
}, 180_000)
afterAll(async () => {
  await browser.close()
  await site.close()
})

type Opened = { page: Page; context: BrowserContext; complaints: string[]; requested: string[] }

async function open(path: string, options: Parameters<Browser['newContext']>[0] = {}): Promise<Opened> {
  const context = await browser.newContext({ baseURL: site.url, ...options })
  const page = await context.newPage()
  const complaints: string[] = []
  const requested: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('request', (request) => requested.push(new URL(request.url()).pathname))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  await page.goto(path, { waitUntil: 'load' })
  return { page, context, complaints, requested }
}

const place = (page: Page) =>
  page.evaluate(`document.querySelector('.replay-stage g[transform]').getAttribute('transform')`)
const until = (page: Page, at: number) => page.getByText(`${at} / ${STEPS}`, { exact: true }).waitFor()
const episodePath = '/v1/packages/@acme/cart/versions/1.0.0/sample-episode'

const still = { reducedMotion: 'reduce' } as const
const playing = (page: Page) => page.locator('[data-replay][data-playing]')
const paused = (page: Page) => page.locator('[data-replay][data-live]:not([data-playing])')

describe('a replay', () => {
  it('plays by itself from step 0 while it is on screen, and stops at the end', async () => {
    const { page, context, complaints, requested } = await open('/replay/cart')
    await until(page, 2)
    await page.evaluate('scrollTo(0, document.body.scrollHeight)')
    await paused(page).waitFor({ state: 'attached' })
    await page.evaluate('scrollTo(0, 0)')
    await playing(page).waitFor()
    await page.getByLabel('Steps and speed').click()
    await page.getByLabel('Speed', { exact: true }).selectOption('4')
    await until(page, STEPS)
    await page.getByRole('button', { name: 'Play' }).waitFor()
    expect(await place(page)).toMatch(/^translate\(288\.00 /)
    expect(requested.filter((path) => path === episodePath)).toHaveLength(1)
    // Again, from the start; it stays paused when it comes back to the screen.
    await page.getByRole('button', { name: 'Play' }).click()
    await until(page, 1)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.evaluate('scrollTo(0, document.body.scrollHeight)')
    await page.evaluate('scrollTo(0, 0)')
    await paused(page).waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })

  it('stays still without requests where reduced motion is preferred, until it is played', async () => {
    const { page, context, requested } = await open('/replay/cart', still)
    await paused(page).waitFor()
    expect(await place(page)).toMatch(/^translate\(32\.00 /)
    await page.getByRole('link', { name: 'Card' }).focus()
    expect(requested).not.toContain(episodePath)
    await page.getByRole('button', { name: 'Play' }).click()
    await until(page, 1)
    await context.close()
  })

  it('steps by keys, buttons and slider, and describes each step', async () => {
    const { page, context, complaints } = await open('/replay/cart', still)
    await paused(page).waitFor()
    await page.locator('.replay-stage').focus()
    await page.keyboard.press('End')
    await until(page, STEPS)
    await page.keyboard.press('Home')
    await until(page, 0)
    expect(await place(page)).toMatch(/^translate\(32\.00 /)
    // The picture stays where it is, and so does the layout of the page around it.
    await page.evaluate("window.drawn = document.querySelector('.replay-stage svg')")
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await until(page, 2)
    await page.getByText('Step 2: right, reward 1, return so far 2.').waitFor()
    expect(await page.evaluate("window.drawn === document.querySelector('.replay-stage svg')")).toBe(true)
    await page.getByLabel('Steps and speed').click()
    await page.getByRole('button', { name: 'Step back' }).click()
    await until(page, 1)
    await page.getByRole('button', { name: 'Step forward' }).click()
    await page.getByRole('slider', { name: 'Step' }).fill('7')
    await until(page, 7)
    await page.getByRole('slider', { name: 'Step' }).press('ArrowRight')
    await until(page, 8)
    expect(await page.locator('.replay-stage title').textContent()).toBe('Random: sample episode of @acme/cart')
    // The marker of the reward is at the same share of its line.
    expect(Number(await page.locator('.replay-rewards circle').getAttribute('cx'))).toBeCloseTo(5 + (8 / 12) * 470, 1)
    expect(complaints).toEqual([])
    await context.close()
  })

  it('switches between players, and shows how likely each choice was', async () => {
    const { page, context, complaints } = await open('/replay/cart?beside=driven', still)
    const [random, best] = ['Random', 'Best agent'].map((name) => page.getByRole('button', { name }))
    await random.and(page.locator('[aria-pressed="true"]')).waitFor()
    await best.focus()
    await page.keyboard.press('Enter')
    await page.getByText(`0 / ${STEPS / 2}`, { exact: true }).waitFor()
    expect(await best.getAttribute('aria-pressed')).toBe('true')
    await page.locator('.replay-summary').filter({ hasText: 'Trained agent: 6 steps' }).waitFor()
    expect(await page.locator('.likely-row').allTextContents()).toEqual(['left88%', 'right13%'])
    expect(await page.locator('.likely-chosen .likely-name').textContent()).toBe('left')
    await random.click()
    await until(page, 0)
    expect(await page.locator('.likely-row').count()).toBe(0)
    expect(complaints).toEqual([])
    await context.close()
  })

  it('plays one player after the other', async () => {
    const { page, context } = await open('/replay/cart?beside=driven')
    await until(page, 1)
    await page.getByLabel('Steps and speed').click()
    await page.getByLabel('Speed', { exact: true }).selectOption('4')
    await page.getByText(`${STEPS / 2} / ${STEPS / 2}`, { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Play' }).waitFor()
    await context.close()
  })

  it('reports a failed load, and retries at the next press', async () => {
    const { page, context } = await open('/replay/cart', still)
    await page.route(`**${episodePath}`, (request) => request.abort())
    const play = page.getByRole('button', { name: 'Play' })
    await play.click()
    await page.getByText('The episode could not be loaded.').waitFor()
    await page.unroute(`**${episodePath}`)
    await page.getByLabel('Steps and speed').click()
    await page.getByRole('button', { name: 'Step forward' }).click()
    await page.getByText('Step 1:').waitFor()
    await context.close()
  })

  it('of a list entry plays while the entry has focus or pointer', async () => {
    const { page, context, complaints } = await open('/replay/transcript')
    const picture = page.locator('.card .package-picture')
    await page.getByRole('link', { name: 'Card' }).focus()
    await picture.locator('svg').waitFor()
    await page.locator('.replay-stage').focus()
    await picture.locator('img').waitFor()
    await page.locator('.card').hover()
    await picture.locator('svg').waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })

  it('shows a transcript as text, escaped', async () => {
    const { page, context, complaints } = await open('/replay/transcript', still)
    expect(await page.locator('.transcript-text').textContent()).toBe(ticket)
    expect(await page.evaluate(`getComputedStyle(document.querySelector('.transcript-text')).direction`)).toBe('rtl')
    expect(await page.locator('.transcript-action').allTextContents()).toEqual(['lookup_user', hostile])
    expect(await page.locator('.transcript-changes').allTextContents()).toEqual([
      'customer found: yes',
      `${hostile}: no`,
    ])
    await page.getByLabel('Steps and speed').click()
    await page.getByRole('button', { name: 'Step forward' }).click()
    const [first, second] = ['lookup_user', hostile].map((text) =>
      page.locator('.transcript-call').filter({ hasText: text }),
    )
    await first.and(page.locator('[data-state="now"]')).waitFor()
    expect(await second.getAttribute('data-state')).toBe('ahead')
    expect(await page.locator('.replay img').count()).toBe(0)
    expect(await page.title()).toBe('Replay · AgentGym')
    expect(complaints).toEqual([])
    await context.close()
  })

  it('without JavaScript shows the start, without controls', async () => {
    for (const name of ['cart', 'transcript']) {
      const { page, context } = await open(`/replay/${name}`, { javaScriptEnabled: false })
      expect(await page.locator('.replay-controls').isHidden()).toBe(true)
      expect(await page.locator('.replay-summary').textContent()).toMatch(/^Random policy: \d+ steps, return /)
      await context.close()
    }
  })

  it.each(isLong ? (['light', 'dark'] as const) : (['dark'] as const))(
    'passes axe in %s, at 360 and 1440 pixels',
    async (colorScheme) => {
      for (const [name, width] of [
        ['cart', 360],
        ['transcript', 360],
        ['transcript', 1440],
      ] as const) {
        const { page, context } = await open(`/replay/${name}?beside=driven`, {
          ...still,
          colorScheme,
          viewport: { width, height: 800 },
        })
        await page.evaluate(axe)
        const { violations } = (await page.evaluate('axe.run()')) as { violations: { id: string; nodes: unknown[] }[] }
        expect(violations.map(({ id, nodes }) => `${id} ${JSON.stringify(nodes).slice(0, 400)}`)).toEqual([])
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
        await context.close()
      }
    },
  )
})
