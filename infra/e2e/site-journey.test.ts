// @module-tag full
import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Browser, type OpenedPage, openChromium, openVisitor, type Page } from '@agentgym/testkit/browser'
import { startServerProcess as startServer, type ServerProcess as TestServer } from '@agentgym/testkit/command-line'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { repositoryRoot } from '../checks/repository-files.ts'

const password = 'correct horse battery staple'
const folder = mkdtempSync(join(tmpdir(), 'agentgym-journey-'))
let server: TestServer
let browser: Browser
beforeAll(async () => {
  execFileSync(process.execPath, [join(repositoryRoot, 'web/build.ts')])
  server = await startServer(join(folder, 'data'), folder)
  browser = await openChromium()
}, 300_000)
afterAll(async () => {
  await browser.close()
  await server.stop()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}, 120_000)

const ways = [
  { width: 1440, javaScriptEnabled: true, how: 'with JavaScript' },
  { width: 360, javaScriptEnabled: false, how: 'without JavaScript' },
]

// One way after another through the same marketplace: a scenario is published, found, trained on; the agent is sold.
for (const way of ways) describe(`at ${way.width} px ${way.how}`, { timeout: 300_000 }, () => journey(way))

function journey({ width, javaScriptEnabled }: (typeof ways)[number]): void {
  const author = `author-${width}`
  const scenario = `@${author}/cart-pole`
  const agent = `@${author}/balancer`
  let seller: OpenedPage
  let buyer: OpenedPage
  const open = () => openVisitor(browser, { baseURL: server.url, viewport: { width, height: 900 }, javaScriptEnabled })
  beforeAll(async () => {
    seller = await open()
    buyer = await open()
  }, 120_000)
  afterAll(async () => {
    await seller.context.close()
    await buyer.context.close()
  })

  it('the seller signs up', () => signUp(seller.page, author))

  it('publishes a scenario with the CLI', async () => {
    copyScenario(author, scenario)
    await type(author, ['login', '--username', author])
    await type(author, ['scenario', 'publish', 'cart-pole'])
  })

  it('finds it, with how to train on it', async () => {
    const { page } = seller
    await page.goto('/')
    await page.getByLabel('Search scenarios and agents').fill(scenario)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/packages?q=*')
    await page.locator(`a[href="/packages/${scenario}"]`).first().click()
    await page.locator(`[data-copy="agentgym train ${scenario}"]`).waitFor()
    await page.getByRole('link', { name: 'Train on this server' }).click()
    await page.waitForURL('**/runs/new?scenario=*')
  })

  it('starts a run, watches it to its end, and has an agent', async () => {
    const { page } = seller
    await page.getByLabel('Steps').fill('4096')
    await page.locator('summary', { hasText: 'More options' }).click()
    await page.getByLabel('Settings').fill('environments=8\nrollout_steps=32\nevaluation_episodes=4')
    await page.getByRole('button', { name: 'Start run' }).click()
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/)
    if (javaScriptEnabled) await watchLive(page)
    else await watchByReloading(page)
    expect(await page.locator('[data-metric="steps"]').textContent()).toBe('4,096')
    expect(await page.locator('path.chart-line').count()).toBeGreaterThan(0)
  })

  it('evaluates the agent on other episodes', async () => {
    const { page } = seller
    await page.locator('summary', { hasText: 'Evaluate on other episodes' }).click()
    await page.getByLabel('Episodes', { exact: true }).fill('8')
    await page.getByRole('button', { name: 'Evaluate', exact: true }).click()
    await page.waitForURL('**/runs/*?evaluation=*')
    const outcome = page.getByRole('region', { name: 'Requested evaluation' })
    await until(async () => {
      await page.reload()
      return (await outcome.count()) > 0
    })
    expect(await outcome.textContent()).toContain('over 8 episodes, seed 0')
  })

  it('publishes the agent', async () => {
    const { page } = seller
    await page.getByLabel('Name', { exact: true }).fill(agent)
    await page.getByLabel('Summary').fill('Balances the pole.')
    await page.getByRole('button', { name: 'Publish agent' }).click()
    await until(async () => {
      await page.goto(`/packages/${agent}`)
      return (await page.locator('.seal').count()) > 0
    })
  })

  it('puts a price on the agent', async () => {
    const { page } = seller
    await page.getByRole('link', { name: 'Set price' }).click()
    await page.getByLabel('Pricing').selectOption('one_time')
    await page.getByLabel('Price (USD)').fill('25')
    await page.getByLabel('Terms').fill('Use it in your own products.')
    await page.getByRole('button', { name: 'Save price' }).click()
    await page.getByText('$25.00').first().waitFor()
  })

  it('a buyer tops up and buys it', async () => {
    const { page } = buyer
    await signUp(page, `buyer-${width}`)
    await page.goto('/balance')
    await page.getByLabel('Amount (USD)').fill('40')
    await page.getByRole('button', { name: 'Top up' }).click()
    await page.waitForURL('**/payments/*')
    await page.goto(`/packages/${agent}`)
    await page.getByRole('link', { name: 'Buy', exact: true }).click()
    await page.getByText('$40.00 now').waitFor()
    await page.getByRole('button', { name: 'Buy for $25.00' }).click()
    await page.waitForURL('**/orders/*')
    await page.getByRole('heading', { level: 1, name: 'Receipt' }).waitFor()
    const order = new URL(page.url()).pathname
    await page.goto('/orders')
    await page.locator(`a[href="${order}"]`).first().waitFor()
    await page.goto('/balance')
    await page.getByText('$15.00').first().waitFor()
    await page.goto(`/packages/${agent}`)
    await page.getByText('Owned').waitFor()
  })

  it('calls the agent', async () => {
    const { page } = buyer
    await page.getByRole('link', { name: 'Try it', exact: true }).click()
    await page.waitForURL(`**/packages/${agent}/try`)
    await page.evaluate("location.hash = 'kept'")
    await page.getByRole('button', { name: 'Call agent' }).click()
    const answer = page.locator('.trial-answer')
    await answer.locator('.trial-action').waitFor()
    // With scripts beside the form: the page was not loaded anew.
    expect(new URL(page.url()).hash).toBe(javaScriptEnabled ? '#kept' : '')
    // The name of a choice, and the same choice among the bars.
    const action = await answer.locator('.trial-action').textContent()
    expect(await answer.locator('.trial-chosen th').textContent()).toBe(`${action} (chosen)`)
    await answer.getByText('License').waitFor()
  })

  it('the seller sees the sale in their earnings', async () => {
    const { page } = seller
    await page.goto('/sales')
    await page.getByText(agent).first().waitFor()
    await page.goto('/earnings')
    await page.getByText('$25.00').first().waitFor()
  })

  it('no browser logged an error', () => {
    expect([seller.complaints, buyer.complaints]).toEqual([[], []])
  })
}

async function signUp(page: Page, username: string): Promise<void> {
  await page.goto('/signup')
  await page.getByLabel('Username').fill(username)
  await page.getByLabel('Email').fill(`${username}@example.com`)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign up' }).click()
  await page.locator('.menu-name', { hasText: username }).waitFor({ state: 'attached' })
}

/** Sees the run end without the page being loaded again. */
async function watchLive(page: Page): Promise<void> {
  await page.evaluate('window.sameDocument = true')
  await page.locator('.run-state', { hasText: 'completed' }).waitFor({ timeout: 300_000 })
  await page.getByRole('button', { name: 'Publish agent' }).waitFor()
  expect(await page.evaluate('window.sameDocument')).toBe(true)
}

/** Follows the link to a page that the browser loads again by itself, and sees the end on it. */
async function watchByReloading(page: Page): Promise<void> {
  const reload = page.getByRole('link', { name: 'Reload every 10 seconds' })
  if ((await reload.count()) > 0) await reload.click()
  await page.locator('.run-state', { hasText: 'completed' }).waitFor({ timeout: 300_000 })
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(500)
}

/** A user's command, on a separate machine. */
async function type(person: string, words: string[]): Promise<void> {
  const { DATABASE_URL, AGENTGYM_TOKEN, ...inherited } = process.env
  await promisify(execFile)(join(repositoryRoot, 'agentgym'), words, {
    cwd: workFolder(person),
    env: {
      ...inherited,
      AGENTGYM_SERVER: server.url,
      AGENTGYM_WITHOUT_WALLS: 'any',
      AGENTGYM_HOME: join(folder, person, 'home'),
      AGENTGYM_PASSWORD: password,
      npm_config_userconfig: join(folder, person, '.npmrc'),
    },
  })
}

function workFolder(person: string): string {
  const cwd = join(folder, person, 'work')
  mkdirSync(cwd, { recursive: true })
  return cwd
}

/** The built-in cart-pole as a user's own package. */
function copyScenario(person: string, name: string): void {
  const target = join(workFolder(person), 'cart-pole')
  const filter = (path: string) => !['node_modules', 'dist', 'testdata'].includes(basename(path))
  cpSync(join(repositoryRoot, 'plugins/cart-pole'), target, { recursive: true, filter })
  const path = join(target, 'package.json')
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), name }, null, 2))
}
