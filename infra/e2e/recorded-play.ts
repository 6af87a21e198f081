import type { Browser, OpenedPage, Page } from '@agentgym/testkit/browser'
import { openVisitor } from '@agentgym/testkit/browser'
import type { TestSite } from '@agentgym/testkit/site'

/** What a page and its workers said to each other, in order: requests of the page, and replies as they were sent. */
export type Recorded = { sent: { do?: string; action?: number[]; observation?: number[] }[]; received: string[] }

/** Records every message of the channels that the page makes. */
const record = `
  window.recorded = []
  window.MessageChannel = class extends MessageChannel {
    constructor() {
      super()
      const log = { sent: [], received: [] }
      recorded.push(log)
      const post = this.port1.postMessage.bind(this.port1)
      this.port1.postMessage = (message, transfer) => {
        log.sent.push(message.do === 'load' ? { do: 'load' } : structuredClone(message))
        post(message, transfer)
      }
      this.port1.addEventListener('message', ({ data }) => log.received.push(data))
    }
  }
`

/** A visitor's page of the package's play, with its messages recorded. */
export async function openRecorded(browser: Browser, site: TestSite, name: string): Promise<OpenedPage> {
  const opened = await openVisitor(browser, { baseURL: site.url, viewport: { width: 1280, height: 900 } })
  await opened.page.addInitScript(record)
  await opened.page.goto(`/packages/${name}/play`)
  return opened
}

/** Starts the play, and waits until it is the visitor's move. */
export async function start(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Start', exact: true }).click()
  await page.getByText('Your move.').waitFor()
}

/** What was said to the page's workers, in the order in which they were opened. */
export function recorded(page: Page): Promise<Recorded[]> {
  return page.evaluate('recorded')
}
