// @module-tag full
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { axeFindings, type Browser, openChromium, openVisitor } from '@agentgym/testkit/browser'
import { openTestSite, password, type TestSite } from '@agentgym/testkit/site'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readSiteAssets } from '../src/app/site-assets.ts'
import { setUpFactor } from './set-up-factor.ts'

/** Artifacts: the pages, to be looked at. */
const screenshots = join(import.meta.dirname, '../../infra/e2e/screenshots')

let site: TestSite
let browser: Browser
beforeAll(async () => {
  execFileSync(process.execPath, [join(import.meta.dirname, '../build.ts')])
  mkdirSync(screenshots, { recursive: true })
  site = await openTestSite({ assets: readSiteAssets(join(import.meta.dirname, '../dist/client')) })
  browser = await openChromium()
}, 300_000)
afterAll(async () => {
  await browser.close()
  await site.close()
}, 120_000)

it('is added in Chromium, logs in, confirms sensitive actions and is removed', async () => {
  const user = await site.browserOf('ann')
  await setUpFactor(user)
  const { page, context, complaints } = await openVisitor(browser, { baseURL: site.url })
  await context.addCookies([...user.cookies].map(([name, value]) => ({ name, value, url: site.url })))
  const devtools = await context.newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'usb', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  })
  await page.goto('/settings/security')
  await page.getByLabel('Name', { exact: true }).fill('Virtual key')
  expect(await axeFindings(page)).toEqual([])
  await page.getByRole('button', { name: 'Add security key' }).click()
  await page.getByText('Virtual key').waitFor()
  for (const width of [1440, 360]) {
    await page.setViewportSize({ width, height: 900 })
    await page.screenshot({ path: join(screenshots, `security-keys-${width}.png`), fullPage: true })
  }
  await page.getByRole('button', { name: 'Add security key' }).click()
  await page.getByText('This key is already registered.').waitFor()

  await context.clearCookies()
  await page.goto('/login?next=/settings/tokens')
  await page.getByLabel('Username').fill('ann')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('button', { name: 'Use security key' }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  await page.screenshot({ path: join(screenshots, 'login-code-key-360.png'), fullPage: true })
  await page.getByRole('button', { name: 'Use security key' }).click()
  await page.waitForURL('**/settings/tokens')

  await page.goto('/settings/security/confirm?next=/settings/security')
  await page.getByRole('button', { name: 'Use security key' }).click()
  await page.waitForURL('**/settings/security')
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByText('Virtual key').waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
  await context.close()
})

it('is not offered without scripts, unlike codes', async () => {
  const user = await site.browserOf('bea')
  await setUpFactor(user)
  const { page, context } = await openVisitor(browser, { baseURL: site.url, javaScriptEnabled: false })
  await context.addCookies([...user.cookies].map(([name, value]) => ({ name, value, url: site.url })))
  await page.goto('/settings/security')
  await page.getByText('Security keys and passkeys').waitFor()
  expect(await page.getByRole('button', { name: 'Add security key' }).isVisible()).toBe(false)
  await page.goto('/settings/security/confirm')
  await page.getByLabel('Code').waitFor()
  await context.close()
})
