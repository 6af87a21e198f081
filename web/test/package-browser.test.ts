// @module-tag full
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { listed } from '@agentgym/registry/testing'
import { findChromium } from '@agentgym/testkit/browser'
import { openTestSite, type TestSite } from '@agentgym/testkit/site'
import { isLong } from '@agentgym/testkit/tier'
import axe from 'axe-core'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sampleEpisode } from '../../testdata/episodes/sample-episode.ts'
import { readSiteAssets } from '../src/app/site-assets.ts'
import { hostileReadme } from './hostile-readme.ts'
import { openPublisher } from './publish-sampled.ts'
import { publishVerified } from './publish-verified.ts'

const long = 'Antidisestablishmentarianism'.repeat(6)
const packages = [listed('@many/hostile', { title: long, summary: `${long} مرحبا`, readme: hostileReadme })]

let site: TestSite
let browser: Browser
beforeAll(async () => {
  execFileSync(process.execPath, [join(import.meta.dirname, '../build.ts')])
  site = await openTestSite({ packages, assets: readSiteAssets(join(import.meta.dirname, '../dist/client')) })
  const { owner, publish } = await openPublisher(site)
  await publish('maze', sampleEpisode())
  await publishVerified(site, owner, 'solver', '@acme/maze')
  browser = await chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox'] })
}, 120_000)
afterAll(async () => {
  await browser.close()
  await site.close()
})

const pages = [
  '@many/hostile',
  '@acme/maze',
  '@acme/solver',
  '@acme/maze/agents',
  '@acme/maze/dependencies',
  '@acme/maze/v/1.0.0',
]

// Pages of every kind are looked at in either size by the tests of the whole site.
const looks: ['light' | 'dark', number][] = [['light', 360]]
if (isLong) looks.push(['dark', 1440])

describe.each(looks)('in %s, %i pixels wide', (colorScheme, width) => {
  it.each(pages)('%s runs no foreign code, fits, and passes axe', async (path) => {
    const context = await browser.newContext({ baseURL: site.url, colorScheme, viewport: { width, height: 900 } })
    const page = await context.newPage()
    const complaints: string[] = []
    const elsewhere: string[] = []
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
    })
    page.on('dialog', (dialog) => void dialog.dismiss().then(() => complaints.push(`dialog: ${dialog.message()}`)))
    page.on('request', (request) => {
      if (!request.url().startsWith(site.url)) elsewhere.push(request.url())
    })
    await page.goto(`/packages/${path}`, { waitUntil: 'load' })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    await page.evaluate(axe.source)
    const { violations } = (await page.evaluate('axe.run()')) as { violations: { id: string; nodes: unknown[] }[] }
    expect(violations.map(({ id, nodes }) => `${id} ${JSON.stringify(nodes).slice(0, 400)}`)).toEqual([])
    expect([complaints, elsewhere]).toEqual([[], []])
    await context.close()
  })
})
