// @module-tag full
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { SampleEpisode } from '@agentgym/contract'
import { findChromium } from '@agentgym/testkit/browser'
import { openTestSite, type TestSite } from '@agentgym/testkit/site'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sampleEpisode } from '../../testdata/episodes/sample-episode.ts'
import { route } from '../src/app/route.ts'
import { readSiteAssets } from '../src/app/site-assets.ts'
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

const shown: Record<string, SampleEpisode> = { cart, transcript }
const routes = [
  route('get', '/replay/:name', { access: 'public' }, (visit) => {
    const { name } = visit.params
    const body = (
      <>
        <h1>Sample episode</h1>
        <Replay episode={shown[name]} name={`@acme/${name}`} version="1.0.0" />
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

describe('a replay', () => {
  it('stays at its end without requests until played', async () => {
    const { page, context, complaints, requested } = await open('/replay/cart')
    await page.locator('.replay-controls').waitFor()
    expect(await place(page)).toMatch(/^translate\(288\.00 /)
    expect(requested).not.toContain(episodePath)
    await page.getByRole('button', { name: 'Play' }).click()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await until(page, 0)
    await until(page, 2)
    await page.getByRole('button', { name: 'Pause' }).click()
    const paused = await place(page)
    expect(paused).not.toMatch(/^translate\(288/)
    await page.getByRole('button', { name: 'Play' }).click()
    await until(page, STEPS)
    // It ends by itself, where it began.
    await page.getByRole('button', { name: 'Play' }).waitFor()
    expect(await place(page)).toMatch(/^translate\(288\.00 /)
    expect(requested.filter((path) => path === episodePath)).toHaveLength(1)
    expect(complaints).toEqual([])
    await context.close()
  })

  it('steps by keys, buttons and slider, and describes each step', async () => {
    const { page, context, complaints } = await open('/replay/cart', { reducedMotion: 'reduce' })
    await page.locator('.replay-stage').focus()
    await page.keyboard.press('Home')
    await until(page, 0)
    expect(await place(page)).toMatch(/^translate\(32\.00 /)
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await until(page, 2)
    await page.getByText('Step 2: right, reward 1, return so far 2.').waitFor()
    await page.getByRole('button', { name: 'Step back' }).click()
    await until(page, 1)
    await page.getByRole('button', { name: 'Step forward' }).click()
    await page.getByRole('slider', { name: 'Step' }).fill('7')
    await until(page, 7)
    await page.keyboard.press('End')
    await until(page, STEPS)
    expect(await page.locator('.replay-stage title').textContent()).toBe('Sample episode of @acme/cart')
    expect(complaints).toEqual([])
    await context.close()
  })

  it('reports a failed load, and retries at the next press', async () => {
    const { page, context } = await open('/replay/cart')
    await page.route(`**${episodePath}`, (request) => request.abort())
    const play = page.getByRole('button', { name: 'Play' })
    await play.click()
    await page.getByText('The episode could not be loaded.').waitFor()
    await page.unroute(`**${episodePath}`)
    await page.getByRole('button', { name: 'Step back' }).click()
    await page.getByText('Step 11:').waitFor()
    await context.close()
  })

  it('shows a transcript as text, escaped', async () => {
    const { page, context, complaints } = await open('/replay/transcript')
    expect(await page.locator('.transcript-text').textContent()).toBe(ticket)
    expect(await page.evaluate(`getComputedStyle(document.querySelector('.transcript-text')).direction`)).toBe('rtl')
    expect(await page.locator('.transcript-action').allTextContents()).toEqual(['lookup_user', hostile])
    expect(await page.locator('.transcript-changes').allTextContents()).toEqual([
      'customer found: yes',
      `${hostile}: no`,
    ])
    await page.getByRole('button', { name: 'Step back' }).click()
    await page.locator('[data-replay-step="1"][data-state="now"]').waitFor()
    expect(await page.locator('[data-replay-step="2"]').getAttribute('data-state')).toBe('ahead')
    expect(await page.locator('img').count()).toBe(0)
    expect(await page.title()).toBe('Replay · AgentGym')
    expect(complaints).toEqual([])
    await context.close()
  })

  it('without JavaScript shows the end, without controls', async () => {
    for (const name of ['cart', 'transcript']) {
      const { page, context } = await open(`/replay/${name}`, { javaScriptEnabled: false })
      expect(await page.locator('.replay-controls').isHidden()).toBe(true)
      expect(await page.locator('.replay-summary').textContent()).toMatch(/^Random policy: \d+ steps, return /)
      await context.close()
    }
  })

  it.each(['light', 'dark'] as const)('passes axe in %s, at 360 and 1440 pixels', async (colorScheme) => {
    for (const [name, width] of [
      ['cart', 360],
      ['transcript', 360],
      ['transcript', 1440],
    ] as const) {
      const { page, context } = await open(`/replay/${name}`, { colorScheme, viewport: { width, height: 800 } })
      await page.evaluate(axe)
      const { violations } = (await page.evaluate('axe.run()')) as { violations: { id: string; nodes: unknown[] }[] }
      expect(violations.map(({ id, nodes }) => `${id} ${JSON.stringify(nodes).slice(0, 400)}`)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      await context.close()
    }
  })
})
