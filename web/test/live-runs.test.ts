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

it('a run that is shared by link is not shown without it, not even right after someone who has it', async () => {
  const run = await startRun()
  const response = await owner.api('POST', `/v1${run.path}/link`, {})
  const { pathname } = new URL(((await response.json()) as { url: string }).url)
  const others = site.browser()
  expect((await others.get(pathname)).status).toBe(200)
  expect((await others.get(`${run.path}/shared`)).status).toBe(404)
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
