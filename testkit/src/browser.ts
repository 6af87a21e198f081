import { existsSync } from 'node:fs'
import axe from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

export type { Browser, BrowserContext, Page }

export type OpenedPage = { page: Page; context: BrowserContext; complaints: string[] }

/** A machine that is busy with other tests takes its time; a test's own limit ends what never comes. */
const patienceMs = 120_000

/** The machine's Chromium. The caller closes it. */
export function openChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox'], timeout: patienceMs })
}

/** A page of a visitor of their own; what its browser complains of (console, policy, exceptions) is collected. */
export async function openVisitor(
  browser: Browser,
  options: NonNullable<Parameters<Browser['newContext']>[0]>,
): Promise<OpenedPage> {
  const context = await browser.newContext(options)
  context.setDefaultTimeout(patienceMs)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  return { page, context, complaints }
}

const controls = 'a[href], button, input:not([type=hidden]), select, textarea, summary'

/** Links and controls that the visitor sees without scrolling, as text and position. */
export function controlsInView(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('${controls}')].flatMap((element) => {
    const { top, left, bottom, right, width, height } = element.getBoundingClientRect()
    const inView = bottom > 0 && right > 0 && top < innerHeight && left < innerWidth && width > 1 && height > 1
    if (!inView || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return []
    const name = element.getAttribute('aria-label') ?? element.textContent.trim().replace(/\\s+/g, ' ')
    return [element.localName + ' ' + name.slice(0, 40) + ' at ' + Math.round(top)]
  })`)
}

type AxeNode = { html: string; any: { message: string }[] }

/** What axe-core finds wrong with the page as it stands, a line a rule. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<{ violations: { id: string; nodes: AxeNode[] }[] }>(
    'axe.run(document, { resultTypes: ["violations"] })',
  )
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(describeNode).join(' | ')}`)
}

const describeNode = ({ html, any }: AxeNode) => [html.slice(0, 160), ...any.map(({ message }) => message)].join(' ')

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** The machine's Chromium: Debian's package, which the set-up of the tests installs, or AGENTGYM_TEST_CHROMIUM. */
export function findChromium(): string {
  const found = [process.env.AGENTGYM_TEST_CHROMIUM ?? '', ...places].find((path) => path !== '' && existsSync(path))
  if (found === undefined) throw new Error('no Chromium: install the package chromium, or set AGENTGYM_TEST_CHROMIUM')
  return found
}
