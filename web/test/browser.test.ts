// @module-tag full
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { listed } from '@agentgym/registry/testing'
import { axeFindings, findChromium } from '@agentgym/testkit/browser'
import { openTestSite, password, type TestSite } from '@agentgym/testkit/site'
import axe from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readSiteAssets } from '../src/app/site-assets.ts'
import { extremePackages } from './extreme-packages.ts'

const hostile = '<img src=x onerror=document.title=1>'
const packages = [
  listed('@acme/cart-pole', { title: 'Cart pole', summary: 'Balance a pole on a cart', downloads: 900 }),
  listed('@acme/cart-race', { title: 'Cart race', price_minor: 1250, difficulty: 'expert', downloads: 20 }),
  listed('@acme/cart-hostile', { title: hostile, summary: hostile }),
  listed('@labs/pole-agent', { kind: 'agent', title: 'Pole agent', algorithm: 'grpo' }),
  ...extremePackages,
  ...Array.from({ length: 30 }, (_, index) => listed(`@many/n-${index}`, { title: `Number ${index}` })),
]

let site: TestSite
let browser: Browser
beforeAll(async () => {
  execFileSync(process.execPath, [join(import.meta.dirname, '../build.ts')])
  const assets = readSiteAssets(join(import.meta.dirname, '../dist/client'))
  site = await openTestSite({ packages, assets })
  browser = await chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox'] })
}, 120_000)
afterAll(async () => {
  await browser.close()
  await site.close()
})

type Opened = { page: Page; context: BrowserContext; complaints: string[] }

/** A page in a browser of its own; what the browser complains of is collected. */
async function open(path: string, options: Parameters<Browser['newContext']>[0] = {}): Promise<Opened> {
  const context = await browser.newContext({ baseURL: site.url, ...options })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  await page.goto(path, { waitUntil: 'load' })
  return { page, context, complaints }
}

describe('islands', () => {
  it('copy a command', async () => {
    const { page, context, complaints } = await open('/', { permissions: ['clipboard-read', 'clipboard-write'] })
    const command = page.locator('[data-copy]').first()
    await command.getByRole('button').click()
    await command.locator('[data-done]').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await command.getAttribute('data-copy'))
    expect(complaints).toEqual([])
    await context.close()
  })

  it('suggest while typing, by keyboard; titles are escaped', async () => {
    const { page, context, complaints } = await open('/')
    const input = page.getByRole('combobox')
    await input.pressSequentially('cart')
    const options = page.getByRole('option')
    await options.nth(2).waitFor()
    expect(await input.getAttribute('aria-expanded')).toBe('true')
    expect((await options.allTextContents()).join()).toContain(hostile)
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowDown')
    expect(await options.first().getAttribute('aria-selected')).toBe('true')
    expect(await input.getAttribute('aria-activedescendant')).toBe(await options.first().getAttribute('id'))
    await page.keyboard.press('Escape')
    expect(await page.locator('.suggestions').isHidden()).toBe(true)
    expect(await input.inputValue()).toBe('cart')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/packages?q=cart')
    await page.getByRole('combobox').fill('pole-agent')
    await page.getByRole('option').first().click()
    await page.waitForURL('**/packages/@labs/pole-agent')
    expect(complaints.filter((text) => !text.includes('404'))).toEqual([])
    await context.close()
  })

  it('go to pages and packages by keyboard', async () => {
    const { page, context, complaints } = await open('/packages')
    await page.keyboard.press('/')
    await page.keyboard.type('a/b')
    expect(await page.locator('#search').inputValue()).toBe('a/b')
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('dialog', { name: 'Go to' })
    await palette.getByRole('option', { name: /^Docs/ }).waitFor()
    await page.keyboard.type('pole-agent')
    await palette.getByRole('option', { name: /^Pole agent/ }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/packages/@labs/pole-agent')
    await page.keyboard.press('Control+k')
    await page.keyboard.press('Control+k')
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(complaints.filter((text) => !text.includes('404'))).toEqual([])
    await context.close()
  })

  it('switch the theme immediately, and remember it', async () => {
    const { page, context, complaints } = await open('/packages', { colorScheme: 'light' })
    const paper = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor')
    const light = await paper()
    await page.getByText('Theme', { exact: true }).click()
    await page.getByRole('button', { name: 'Dark theme' }).click()
    expect(await paper()).not.toBe(light)
    await page.reload()
    expect(await paper()).not.toBe(light)
    await page.getByText('Theme', { exact: true }).click()
    expect(await page.getByRole('button', { name: 'Dark theme' }).getAttribute('aria-pressed')).toBe('true')
    await page.getByRole('button', { name: 'System theme' }).click()
    expect(await paper()).toBe(light)
    expect(complaints).toEqual([])
    await context.close()
  })
})

describe('without JavaScript', () => {
  it('sign-up, search, filters, theme and logout work', async () => {
    const { page, context } = await open('/signup', { javaScriptEnabled: false, colorScheme: 'light' })
    await page.getByLabel('Username').fill('no-script')
    await page.getByLabel('Email').fill('no-script@example.com')
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign up' }).click()
    await page.getByText('no-script').first().waitFor()
    await page.getByLabel('Search scenarios and agents').fill('cart')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1 }).getByText('“cart”').waitFor()
    await page.getByRole('navigation', { name: 'Filters' }).getByRole('link', { name: 'Expert' }).click()
    expect(await page.locator('.package-row').count()).toBe(1)
    await page.getByText('Theme', { exact: true }).click()
    await page.getByRole('button', { name: 'Dark theme' }).click()
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
    expect(page.url()).toContain('difficulty=expert')
    await page.locator('.site-header .menu summary').click()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('link', { name: 'Log in' }).waitFor()
    expect(await page.getByRole('button', { name: 'Copy command' }).count()).toBe(0)
    await context.close()
  })
})

const pages = [
  '/',
  '/packages',
  '/packages?q=cart&kind=scenario',
  '/packages?q=none',
  '/login',
  '/signup',
  '/forgot-password',
  '/no/such',
]
const sizes = [
  { width: 1440, height: 900, colorScheme: 'light' as const },
  { width: 360, height: 780, colorScheme: 'dark' as const },
]

describe.each(sizes)('at $width px, $colorScheme', ({ width, height, colorScheme }) => {
  it.each(pages)('%s fits, loads without errors, and passes axe', async (path) => {
    const { page, context, complaints } = await open(path, { viewport: { width, height }, colorScheme })
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    expect(complaints.filter((text) => !text.includes('404'))).toEqual([])
    await page.evaluate(axe.source)
    const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
      'axe.run(document, { resultTypes: ["violations"] })',
    )
    expect(
      violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`),
    ).toEqual([])
    await context.close()
  })
})

it('icons are where browsers look for them', async () => {
  const files = { '/favicon.ico': 'image/x-icon', '/apple-touch-icon.png': 'image/png', '/icon-192.png': 'image/png' }
  for (const [path, type] of Object.entries(files)) {
    const response = await fetch(site.url + path)
    expect([path, response.status, response.headers.get('content-type')]).toEqual([path, 200, type])
    expect(response.headers.get('cache-control')).toBe('public, max-age=86400')
  }
  const { icons } = (await (await fetch(`${site.url}/site.webmanifest`)).json()) as { icons: { src: string }[] }
  for (const { src } of icons) expect((await fetch(site.url + src)).status).toBe(200)
})

it('first-party scripts of a page are under 60 kB compressed', async () => {
  for (const path of ['/', '/packages']) {
    const { page, context } = await open(path)
    const scripts = await page.locator('script[src]').all()
    const sources = await Promise.all(scripts.map(async (script) => (await script.getAttribute('src')) ?? ''))
    const sizes = await Promise.all(
      sources.map(async (source) => {
        const response = await fetch(site.url + source, { headers: { 'accept-encoding': 'gzip' } })
        expect(response.headers.get('content-encoding')).toBe('gzip')
        expect(response.headers.get('cache-control')).toContain('immutable')
        return (await response.arrayBuffer()).byteLength
      }),
    )
    expect(sources.length).toBeGreaterThan(1)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(60_000)
    await context.close()
  }
})
