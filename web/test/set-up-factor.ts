import { password, type TestBrowser, type TestPage } from '@agentgym/testkit/site'
import { expect } from 'vitest'

const security = '/settings/security'
/** Recovery codes on a page. */
export const codesOn = ({ text }: TestPage) => [...new Set(text.match(/\b([a-z2-7]{4}-){3}[a-z2-7]{4}\b/g))]

/** Sets up a second factor by forms alone; its recovery codes. */
export async function setUpFactor(browser: TestBrowser): Promise<string[]> {
  const begun = await browser.submit(security, `${security}/begin`, { current_password: password })
  const secret = /secret=([A-Z2-7]+)/.exec(begun.text)?.[1] ?? ''
  const enabled = await enable(browser, await codeNow(secret))
  expect(enabled.status).toBe(200)
  return codesOn(enabled)
}

/** The form is on the page that answered `begin` only. */
export async function enable(browser: TestBrowser, code: string): Promise<TestPage> {
  return browser.post(`${security}/enable`, { form_token: await browser.formToken(security), code })
}

async function codeNow(secret: string): Promise<string> {
  const bits = [...secret].map((digit) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(digit).toString(2).padStart(5, '0'),
  )
  const bytes = (bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))
  const hmac = { name: 'HMAC', hash: 'SHA-1' }
  const key = await crypto.subtle.importKey('raw', Uint8Array.from(bytes), hmac, false, ['sign'])
  const counter = new DataView(new ArrayBuffer(8))
  counter.setBigUint64(0, BigInt(Math.floor(Date.now() / 30_000)))
  const mac = new DataView(await crypto.subtle.sign('HMAC', key, counter))
  return String((mac.getUint32(mac.getUint8(19) & 15) & 0x7fff_ffff) % 1_000_000).padStart(6, '0')
}
