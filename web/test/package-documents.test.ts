// @module-tag full
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { axeFindings, type Browser, openChromium, openVisitor } from '@agentgym/testkit/browser'
import { openTestSite, type TestSite } from '@agentgym/testkit/site'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { png } from '../../testdata/pictures/raw-pictures.ts'
import { readSiteAssets } from '../src/app/site-assets.ts'
import { openFilePublisher } from './publish-files.ts'

const pictured = `# Maze

![How a run learned, by environment steps](docs/curve.png)

A small one ![a sign](docs/sign.png) in a line, one of [elsewhere](https://example.org), ![one of another host](https://example.org/x.png).
`
const log =
  '# Changelog\n\n## 1.1.0\n\n### Added\n\n- Doors[^1] <script>x</script>\n\n[^1]: Of wood.\n\n## 1.0.0\n\nThe first[^1].\n\n[^1]: Of all.\n'

let site: TestSite
let browser: Browser
beforeAll(async () => {
  execFileSync(process.execPath, [join(import.meta.dirname, '../build.ts')])
  site = await openTestSite({ assets: readSiteAssets(join(import.meta.dirname, '../dist/client')) })
  const publish = await openFilePublisher(site)
  const pictures = { 'docs/curve.png': png(2_000, 900), 'docs/sign.png': png(24, 16) }
  await publish('maze', '0.9.0', { 'README.md': '# Maze' })
  await publish('maze', '1.0.0', { 'README.md': '# Maze', 'CHANGELOG.md': log })
  await publish('maze', '1.1.0', { 'README.md': pictured, 'CHANGELOG.md': log, ...pictures })
  await publish('long', '1.0.0', {
    'README.md': `# Long\n\n${`${'Words of 倒立 a very long README. '.repeat(20)}

`.repeat(90)}# The end`,
  })
  for (let patch = 0; patch < 23; patch++)
    await publish('often', `1.0.${patch}`, {
      'README.md': '# Often',
      'CHANGELOG.md': `## 1.0.${patch}\n\n${'- A change\n'.repeat(120)}`,
    })
  browser = await openChromium()
}, 300_000)
afterAll(async () => {
  await browser.close()
  await site.close()
})

const open = (path: string) => site.browser().get(path)

describe('the versions of a package', () => {
  it('show their own release notes, or that there are none', async () => {
    const { text } = await open('/packages/@acme/maze/versions')
    const [, first, second, third] = text.split('<li class="version">')
    expect(first).toMatch(
      />1\.1\.0<[\s\S]*badge-good">latest<[\s\S]*1 of 1 checks passed[\s\S]*<h4 dir="auto">Added<\/h4>[\s\S]*Doors/,
    )
    expect(second).toMatch(/>1\.0\.0<[\s\S]*The first/)
    expect(third).toMatch(/>0\.9\.0<[\s\S]*No release notes/)
    expect(text).not.toMatch(/<script>x/)
    const ids = [...text.matchAll(/<[a-z][^<>]*\sid="([^"]+)"/g)].map(([, id]) => id)
    expect(ids).toEqual([...new Set(ids)])
    const one = await open('/packages/@acme/maze/v/1.1.0')
    expect(one.text).toMatch(/id="changes">Release notes<[\s\S]*<h3 dir="auto">Added<\/h3>/)
    expect((await open('/packages/@acme/maze/v/0.9.0')).text).not.toContain('Release notes')
  })

  it('are paginated by twenty, whatever their length', async () => {
    const path = '/packages/@acme/often/versions'
    const first = await open(path)
    expect(Buffer.byteLength(first.text)).toBeLessThan(100_000)
    expect(first.text.match(/class="version"/g)).toHaveLength(20)
    expect(first.text).toContain('href="/packages/@acme/often/v/1.0.22#changes">Full release notes')
    expect(first.text).toContain('versions?before=1.0.3" rel="next"')
    const second = await open(`${path}?before=1.0.3`)
    expect(second.text.match(/class="version"/g)).toHaveLength(3)
    expect(second.text).toMatch(/v\/1\.0\.2"[\s\S]*A change/)
    expect(second.text).not.toContain('rel="next"')
    expect((await open(`${path}?before=nonsense`)).text).toContain('>1.0.22<')
  })
})

it('a long README starts on the page and is complete on its own page', async () => {
  const { text } = await open('/packages/@acme/long')
  expect(Buffer.byteLength(text)).toBeLessThan(100_000)
  expect(text).toContain('href="/packages/@acme/long/v/1.0.0/readme">Read more')
  expect(text).not.toContain('The end')
  const whole = await open('/packages/@acme/long/v/1.0.0/readme')
  // A machine that is busy may be too slow for its HTML: then it is all there as text.
  expect(whole.text).toMatch(/The end<\/(?:h2|pre)>/)
  expect(whole.text).not.toMatch(/Read more/)
  expect((await open('/packages/@acme/maze')).text).not.toContain('Read more')
  expect((await open('/packages/@acme/long/v/9.9.9/readme')).status).toBe(404)
})

// Pages of every kind are looked at in either size by the tests of the whole site.
const looks: ['light' | 'dark', number][] = [['light', 360]]
if (isLong) looks.push(['dark', 1440])

describe.each(looks)('in %s, %i pixels wide', (colorScheme, width) => {
  const visit = async (path: string) => {
    const opened = await openVisitor(browser, { baseURL: site.url, colorScheme, viewport: { width, height: 900 } })
    const { page, context, complaints } = opened
    page.on('request', (request) => {
      if (!request.url().startsWith(site.url)) complaints.push(request.url())
    })
    await page.goto(path, { waitUntil: 'load' })
    return { page, complaints, close: () => context.close() }
  }

  it('README images are lazy-loaded, fit, and cause no layout shift', async () => {
    const { page, complaints, close } = await visit('/packages/@acme/maze')
    const heights = () =>
      page.evaluate('[...document.querySelectorAll(".prose img")].map((image) => image.clientHeight)')
    const before = await heights()
    await page.locator('.prose img').first().scrollIntoViewIfNeeded()
    await page.waitForFunction('[...document.querySelectorAll(".prose img")].every((image) => image.naturalWidth > 0)')
    expect(
      await page.evaluate('[...document.querySelectorAll(".prose img")].map((image) => image.naturalWidth)'),
    ).toEqual([2_000, 24])
    expect(await heights()).toEqual(before)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    expect(await page.getByRole('img', { name: 'How a run learned, by environment steps' }).count()).toBe(1)
    expect(complaints).toEqual([])
    await close()
  })

  it.each([
    '/packages/@acme/maze',
    '/packages/@acme/maze/versions',
    '/packages/@acme/maze/v/1.1.0',
    '/packages/@acme/maze/v/1.1.0/readme',
  ])('%s fits, and passes axe', async (path) => {
    const { page, complaints, close } = await visit(path)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    expect(await axeFindings(page)).toEqual([])
    expect(complaints).toEqual([])
    await close()
  })
})
