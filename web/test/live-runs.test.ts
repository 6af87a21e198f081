import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { sendOutcome } from '@agentgym/client'
import { axeFindings, type Browser, openChromium, openVisitor, type Page } from '@agentgym/testkit/browser'
import { openTestSite, type TestBrowser, type TestSite } from '@agentgym/testkit/site'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readSiteAssets } from '../src/app/site-assets.ts'
import { openPublisher } from './publish-sampled.ts'
import { trainABit } from './train-a-bit.ts'

let site: TestSite
let owner: TestBrowser
let browser: Browser
beforeAll(async () => {
  execFileSync(process.execPath, [join(import.meta.dirname, '../build.ts')])
  site = await openTestSite({ assets: readSiteAssets(join(import.meta.dirname, '../dist/client')) })
  const publisher = await openPublisher(site)
  owner = publisher.owner
  await publisher.publish('pole', null)
  browser = await openChromium()
}, 300_000)
afterAll(async () => {
  await browser.close()
  await site.close()
})

/** A run that a worker has told a bit of, and goes on. */
async function startRun() {
  const { headers } = await owner.submit('/runs/new', '/runs/new', { scenario: '@acme/pole' })
  return { path: headers.get('location') ?? '', ...(await trainABit(site)) }
}
async function openAs(path: string) {
  const opened = await openVisitor(browser, { baseURL: site.url, viewport: { width: 360, height: 780 } })
  const cookies = [...owner.cookies].map(([name, value]) => ({ name, value, url: site.url }))
  await opened.context.addCookies(cookies)
  await opened.page.goto(path, { waitUntil: 'load' })
  return opened
}
const figure = (page: Page, name: string) => page.locator(`[data-metric="${name}"]`)

describe('the page of a running run', () => {
  it('shows each iteration live, metrics and curve, and then the end', async () => {
    const run = await startRun()
    const { page, context, complaints } = await openAs(run.path)
    // The island draws what there is already.
    await page.locator('[data-chart="return_mean"][data-chart-drawn="3"]').waitFor()
    const inkOf = () => page.locator('[data-chart="return_mean"] .chart-line').getAttribute('d')
    let ink = await inkOf()
    for (const [iteration, returnMean] of [
      [4, 41],
      [5, 37.5],
      [6, 52],
    ]) {
      await run.tell(iteration, returnMean)
      await figure(page, 'return_mean').getByText(String(returnMean), { exact: true }).waitFor()
      expect(await figure(page, 'steps').textContent()).toBe(String(100 * iteration))
      expect(await page.locator('[data-chart="return_mean"] .chart-now').textContent()).toBe(String(returnMean))
      const drawn = await inkOf()
      expect(drawn).not.toBe(ink)
      ink = drawn
      expect(await page.locator('[data-part="head"]').textContent()).toContain('running')
    }
    expect((await owner.submit(run.path, `${run.path}/cancel`, {})).status).toBe(303)
    await sendOutcome(run.worker, run.job, { outcome: { state: 'cancelled' }, meteredMs: 6_000 })
    await page.locator('[data-part="head"]').getByText('canceled').waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })
})

it('the page of a running run shows episodes as they are sampled, and others that are chosen', async () => {
  const request = { scenario: '@acme/pole', settings: { evaluate_every: 100 } }
  const { id } = (await (await owner.api('POST', '/v1/runs', request)).json()) as { id: string }
  const run = { path: `/runs/${id}`, ...(await trainABit(site)) }
  const { page, context, complaints } = await openAs(run.path)
  const episodes = page.locator('[data-episodes]')
  const now = episodes.locator('.run-episode-now')
  const current = episodes.locator('[data-episode][aria-current]')
  expect(await episodes.textContent()).toContain('Episodes that the agent plays during training appear here.')
  await run.evaluate(1, 7)
  await now.getByText('At 100 steps of training: return 7 in an episode of 2 steps').waitFor()
  await episodes.locator('[data-live] .replay-summary').waitFor()
  // Nothing moves where reduced motion is asked, so the new one is shown at once.
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await run.evaluate(3, 43)
  await now.getByText('At 300 steps of training: return 43').waitFor()
  expect(await current.getAttribute('data-episode')).toBe('3')
  await episodes.locator('[data-episode="1"]').click()
  await now.getByText('At 100 steps of training').waitFor()
  // Who has chosen an older one keeps it.
  await run.evaluate(2, 12)
  await episodes.locator('[data-episode="2"]').waitFor()
  expect(await current.getAttribute('data-episode')).toBe('1')
  expect(await episodes.locator('[data-episode]').allTextContents()).toEqual([
    ...['At 100 stepsreturn 7', 'At 200 stepsreturn 12', 'At 300 stepsreturn 43'],
  ])
  expect(await axeFindings(page)).toEqual([])
  // Without scripts, links do.
  const link = (await episodes.locator('[data-episode="2"]').getAttribute('href')) ?? ''
  const { text } = await owner.get(link)
  expect(text).toContain('<p class="run-episode-now">At 200 steps of training')
  expect(complaints).toEqual([])
  await context.close()
})

it('a shared run shows its episodes to those who have the link', async () => {
  const run = await startRun()
  await run.evaluate(2, 12)
  const { url } = (await (await owner.api('POST', `/v1${run.path}/link`, {})).json()) as { url: string }
  const { pathname } = new URL(url)
  const others = site.browser()
  expect((await others.get(pathname)).text).toContain(`data-address="${pathname}/episodes/2"`)
  expect(JSON.parse((await others.get(`${pathname}/episodes/2`)).text)).toMatchObject({ policy: 'agent' })
  expect((await others.get(`${pathname}/episodes/7`)).status).toBe(404)
  // Not even right after someone who has it.
  for (const path of ['/shared', '/shared/episodes/2']) expect((await others.get(run.path + path)).status).toBe(404)
})

it('compared runs update while one is running', async () => {
  const [one, other] = [await startRun(), await startRun()]
  const ids = [one, other].map(({ path }) => `ids=${path.split('/').at(-1)}`).join('&')
  const { page, context, complaints } = await openAs(`/runs/compare?${ids}`)
  const figures = page.locator('[data-part="metrics"]')
  await figures.getByText('30', { exact: true }).first().waitFor()
  const line = () => page.locator('.chart-plot path').nth(1).getAttribute('d')
  const before = await line()
  await other.tell(4, 77)
  await figures.getByText('77', { exact: true }).waitFor()
  expect(await line()).not.toBe(before)
  expect(await axeFindings(page)).toEqual([])
  expect(complaints).toEqual([])
  await context.close()
})
