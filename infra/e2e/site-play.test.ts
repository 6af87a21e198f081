// @module-tag full
import { execFileSync } from 'node:child_process'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { greedyActions, loadModelSession } from '@agentgym/agent/engine'
import { runWorker } from '@agentgym/runtime'
import { axeFindings, type Browser, openChromium, type Page } from '@agentgym/testkit/browser'
import { runCli } from '@agentgym/testkit/command-line'
import { runFolder } from '@agentgym/testkit/run-folder'
import { openTestSite, type TestSite } from '@agentgym/testkit/site'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPlay } from '../../runtime/src/playing/play-session.ts'
import type { BuiltScenario } from '../../runtime/src/sandbox/build-scenario.ts'
import { readSiteAssets, type SiteAssets } from '../../web/src/app/site-assets.ts'
import { repositoryRoot } from '../checks/repository-files.ts'
import { hostileScenarios, probe, withHostileStep } from './hostile-plays.ts'
import { openPlayRoom, type PlayRoom } from './play-room.ts'
import { openRecorded, type Recorded, recorded, start } from './recorded-play.ts'

let assets: SiteAssets
let site: TestSite
let room: PlayRoom
let browser: Browser
let pole: BuiltScenario
let agent: Awaited<ReturnType<PlayRoom['publishAgent']>>
beforeAll(async () => {
  execFileSync(process.execPath, [join(repositoryRoot, 'web/build.ts')])
  assets = readSiteAssets(join(repositoryRoot, 'web/dist/client'))
  site = await openTestSite({ assets })
  room = await openPlayRoom(site)
  pole = await room.publishPlugin('cart-pole')
  agent = await room.publishAgent(pole)
  browser = await openChromium()
}, 300_000)
afterAll(async () => {
  await browser.close()
  await site.close()
}, 120_000)

const versionPath = '/v1/packages/@acme/cart-pole/versions/1.0.0'
const part = (page: Page, name: string) => page.locator(`[data-play-part="${name}"]`)
const ended = (page: Page) => page.getByText(/Episode over|Time limit reached/).waitFor()

type Seen = { observation: number[]; reward: number; flags: number }

/** The steps that a guest was asked for, with what it answered. */
function stepsOf({ sent, received }: Recorded): { action: number[]; seen: Seen }[] {
  // The first text is the worker's own: it has started.
  return sent.flatMap((request, i) =>
    request.do === 'step' ? [{ action: request.action ?? [], seen: JSON.parse(received[i + 1] ?? '') }] : [],
  )
}

/** Plays the same actions in Node's isolate: every reward and the end must be the same, bit for bit. */
async function expectSameEpisode(scenario: BuiltScenario, log: Recorded): Promise<void> {
  const session = await openPlay({ scenario, player: 'person', look: false })
  try {
    await session.begin(0)
    const steps = stepsOf(log)
    expect(steps.length).toBeGreaterThan(1)
    for (const { action, seen } of steps) {
      const { exact, end } = await session.step(action)
      expect([exact.action, exact.reward]).toEqual([action, seen.reward])
      expect(end !== null).toBe((seen.flags & 3) !== 0)
    }
  } finally {
    await session.close()
  }
}

describe('a play', { timeout: 300_000 }, () => {
  it('of a person goes by keys and buttons, to the end and to the next episode', async () => {
    const { page, context, complaints } = await openRecorded(browser, site, '@acme/cart-pole')
    await start(page)
    await part(page, 'stage').press('ArrowLeft')
    await page.getByText('left, reward 1.').waitFor()
    await page.getByRole('button', { name: 'right' }).click()
    await page.getByText('right, reward 1.').waitFor()
    expect(await part(page, 'steps').textContent()).toBe('2 / 500')
    while ((await page.getByText('Episode over').count()) === 0) await part(page, 'stage').press('ArrowLeft')
    const total = await part(page, 'return').textContent()
    expect(await page.locator('[data-play-score="person"]').textContent()).toBe(total)
    await part(page, 'stage').press('Enter')
    await page.getByText('Your move.').waitFor()
    expect(await part(page, 'episode').textContent()).toBe('2')
    expect(complaints).toEqual([])
    await context.close()
  })

  it('is kept by a person who is logged in: a worker computes its score, and others download it', async () => {
    const { page, context, complaints } = await openRecorded(browser, site, '@acme/cart-pole')
    const person = await site.browserOf('person')
    await context.addCookies([...person.cookies].map(([name, value]) => ({ name, value, url: site.url })))
    await page.reload()
    await start(page)
    while ((await page.getByText('Episode over').count()) === 0) await part(page, 'stage').press('ArrowLeft')
    const total = (await part(page, 'return').textContent()) ?? ''
    await page.getByRole('button', { name: 'Keep this episode' }).click()
    await page.getByText('Kept. A worker is replaying it').waitFor()
    await page.locator('[data-checking]').waitFor()
    const stop = new AbortController()
    const operator = await site.browserOf('operator')
    const made = await operator.api('POST', '/v1/tokens', { name: 'replays', scopes: ['worker'] })
    const { token } = (await made.json()) as { token: string }
    const working = runWorker({ server: site.url, token, kinds: ['replay'], slots: 1, pollMs: 100, stop: stop.signal })
    await page.getByText(`People: ${total} mean return, 1 person, 1 episode.`).waitFor()
    stop.abort()
    await working
    expect(await axeFindings(page)).toEqual([])
    expect(complaints).toEqual([])
    await context.close()

    const stranger = site.browser()
    expect((await stranger.get('/packages/@acme/cart-pole/agents')).text).toMatch(
      new RegExp(`People: <strong[^>]*>${total}</strong>`),
    )
    const file = join(await mkdtemp(join(runFolder(), 'kept-')), 'people.jsonl')
    await writeFile(file, (await stranger.get(`${versionPath}/demonstrations.jsonl`)).text)
    const replayed = await runCli(['play', join(repositoryRoot, 'plugins/cart-pole'), '--replay', file, '--json'])
    expect(JSON.parse(replayed.stdout)).toMatchObject({ episode: 0, steps: Number(total), same: true })

    const shown = '/packages/@acme/cart-pole/play'
    const action = /action="([^"]+\/remove)"/.exec((await person.get(shown)).text)?.[1] ?? ''
    expect((await person.submit(shown, action, {})).status).toBe(303)
    expect((await person.get(shown)).text).not.toContain('Episodes of people')
  })

  it('of an agent takes the actions of the server, in the same episode', async () => {
    const { page, context, complaints } = await openRecorded(browser, site, '@acme/pole')
    await start(page)
    await part(page, 'speed').selectOption('60')
    await part(page, 'player').selectOption('@acme/pole')
    await ended(page)
    const [guest, policy] = await recorded(page)
    const session = loadModelSession(agent.model, agent.spec, { batch: 1 })
    const asked = policy.sent.filter((request) => request.do === 'decide')
    const decided = policy.received.map((text) => JSON.parse(text)).filter((reply) => 'action' in reply)
    expect(asked.length).toBe(stepsOf(guest).length)
    asked.forEach(({ observation = [] }, i) => {
      session.run(Float32Array.from(observation))
      const action = new Float32Array(1)
      greedyActions({ spec: agent.spec, distribution: session.distribution, masks: null, rows: 1 }, action)
      expect(decided[i].action).toEqual(Array.from(action))
    })
    session.dispose()
    await expectSameEpisode(pole, guest)
    expect(complaints).toEqual([])
    await context.close()
  })

  it.each(['lunar-lander', 'pendulum'])('of %s is what the isolate plays, bit for bit', async (plugin) => {
    const scenario = await room.publishPlugin(plugin)
    const { page, context } = await openRecorded(browser, site, `@acme/${plugin}`)
    await start(page)
    await part(page, 'speed').selectOption('60')
    await part(page, 'player').selectOption('random')
    const over = page.getByText(/Episode over|Time limit reached/)
    await expect
      .poll(async () => (await over.count()) > 0 || stepsOf((await recorded(page))[0]).length > 30, {
        timeout: 120_000,
      })
      .toBe(true)
    const [log] = await recorded(page)
    // The last reply may still be under way.
    const whole = { sent: log.sent.slice(0, log.received.length - 1), received: log.received }
    await expectSameEpisode(scenario, whole)
    await context.close()
  })

  it('of tools goes by a form, with the arguments of the chosen tool', async () => {
    const desk = await room.publishPlugin('returns-desk')
    const { page, context, complaints } = await openRecorded(browser, site, '@acme/returns-desk')
    await start(page)
    await page.getByLabel('tool', { exact: true }).selectOption({ label: 'find_orders' })
    await page.getByRole('button', { name: 'Play step' }).click()
    await page.getByText(/^find_orders.*reward/).waitFor()
    await page.getByLabel('tool', { exact: true }).selectOption({ label: 'refund' })
    await page.getByLabel(/percent/).fill('50')
    await page.getByRole('button', { name: 'Play step' }).click()
    await page.getByText(/refund\(order: .*percent: 50.*Episode over/).waitFor()
    await expectSameEpisode(desk, (await recorded(page))[0])
    expect(complaints).toEqual([])
    await context.close()
  })
})

it('loads next to nothing before it is started', () => {
  const asked = /^\/assets\/(start-play|guest|policy|frame)-/
  const scripts = [...assets.files].filter(([path]) => path.endsWith('.js') && !asked.test(path))
  const bytes = scripts.reduce((sum, [, { encoded }]) => sum + (encoded.gzip?.length ?? 0), 0)
  expect(scripts.length).toBeGreaterThan(5)
  expect(bytes).toBeLessThan(60_000)
})

describe('a hostile scenario', { timeout: 300_000 }, () => {
  it('has no capability of a browser', async () => {
    await room.publish('probe', withHostileStep(pole.source, probe))
    const { page, context } = await openRecorded(browser, site, '@acme/probe')
    const requests: string[] = []
    await start(page)
    // What the policy blocks fails before it is sent.
    page.on('requestfinished', (request) => requests.push(request.url()))
    await part(page, 'stage').press('ArrowLeft')
    await page.getByText('left, reward').waitFor()
    await part(page, 'stage').press('ArrowLeft')
    await expect.poll(() => part(page, 'steps').textContent()).toBe('2 / 500')
    const [{ seen }] = stepsOf((await recorded(page))[0]).slice(-1)
    // The step's reward: how many of its attempts had any effect.
    expect(seen.reward).toBe(0)
    expect(requests).toEqual([])
    await context.close()
  })

  it('that hangs, fails or lies is ended, and the page goes on', async () => {
    for (const [base, attack] of Object.entries(hostileScenarios)) await room.publish(base, attack(pole.source))
    const ends = await Promise.all(Object.keys(hostileScenarios).map(endOf))
    expect(Object.fromEntries(ends)).toEqual({
      ...{
        'loops-while-it-loads': 'hung',
        'loops-in-a-step': 'hung',
        backtracks: 'hung',
        'spins-in-microtasks': 'hung',
      },
      ...{ 'never-settles': 'failed', 'closes-its-function': 'failed', 'rewards-nothing': 'failed' },
    })
  })

  it('of which code escaped into the frame’s worker cannot flood or overload the page', async () => {
    const { page, context } = await openRecorded(browser, site, '@acme/cart-pole')
    const scripts = {
      flood: "postMessage('{}'); for (let i = 0; i < 1e5; i++) postMessage('x')",
      giant: "postMessage('x'.repeat(64 * 2 ** 20))",
      objects: 'postMessage({ ended: 1 })',
    }
    for (const [name, script] of Object.entries(scripts)) {
      const received = (await page.evaluate(openFrame(assets.play.frame, script))) as unknown[]
      expect([name, received.at(-1)]).toEqual([name, { ended: 'protocol' }])
      expect(received.length).toBeLessThan(3)
    }
    const walls = (await page.evaluate(openFrame(assets.play.frame, insideFrame))) as string[]
    expect(new Set(Object.values(JSON.parse(walls[0])))).toEqual(new Set(['refused']))
    await context.close()
  })

  it('runs in a document of an opaque origin, also where that is opened by itself', async () => {
    const response = await fetch(`${site.url}${assets.play.frame}`)
    const policy = response.headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain('sandbox allow-scripts')
    expect(response.headers.get('set-cookie')).toBe(null)
    const page = await browser.newPage()
    await page.goto(`${site.url}${assets.play.frame}`)
    expect(await page.evaluate('origin')).toBe('null')
    await page.close()
  })
})

/** Plays that scenario until its end, by its own fault; then the page still answers, and starts it again. */
async function endOf(base: string): Promise<[string, string]> {
  const { page, context } = await openRecorded(browser, site, `@acme/${base}`)
  await page.getByRole('button', { name: 'Start', exact: true }).click()
  const over = page.getByText(/did not answer within 2 seconds|The scenario failed/)
  const ready = page.getByText('Your move.')
  const settled = async () => (await over.isVisible()) || (await ready.isVisible())
  await expect.poll(settled, { timeout: 120_000 }).toBe(true)
  if (!(await over.isVisible())) await part(page, 'stage').press('ArrowLeft')
  await over.waitFor()
  const why = (await over.textContent()) ?? ''
  expect(await page.locator('iframe').count()).toBe(0)
  await page.getByRole('button', { name: 'Start again' }).click()
  await expect.poll(settled, { timeout: 120_000 }).toBe(true)
  await context.close()
  return [base, why.includes('2 seconds') ? 'hung' : 'failed']
}

/** What a worker of the frame can do by itself, if nothing was taken from its realm. */
const insideFrame = `
  const attempt = async (act) => { try { await act(); return 'done' } catch { return 'refused' } }
  const socket = () => new Promise((resolve, reject) => {
    const opened = new WebSocket('ws://' + 'localhost:1/')
    opened.onopen = resolve
    opened.onerror = reject
  })
  const all = async () => ({
    fetch: await attempt(() => fetch('/v1/account')),
    socket: await attempt(socket),
    import: await attempt(() => import('data:text/javascript,export default 1')),
    scripts: await attempt(() => importScripts('data:text/javascript,1')),
    storage: await attempt(() => caches.open('x')),
  })
  all().then((walls) => postMessage(JSON.stringify(walls)))
`

/** An expression: opens the frame with that script, and gives what it said within two seconds, or until its end. */
function openFrame(address: string, script: string): string {
  return `new Promise((resolve) => {
    const frame = document.createElement('iframe')
    frame.setAttribute('sandbox', 'allow-scripts')
    frame.src = ${JSON.stringify(address)}
    const { port1, port2 } = new MessageChannel()
    const received = []
    port1.onmessage = ({ data }) => {
      received.push(data)
      if (typeof data !== 'string' || data.startsWith('{"fetch"')) resolve(received)
    }
    frame.onload = () => frame.contentWindow.postMessage(${JSON.stringify(script)}, '*', [port2])
    document.body.append(frame)
  })`
}
