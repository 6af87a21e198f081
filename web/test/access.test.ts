import { openTestSite, type TestBrowser, type TestPage, type TestSite } from '@agentgym/testkit/site'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Access, route } from '../src/app/route.ts'
import { siteRoutes } from '../src/app/site-routes.ts'
import { samplePath } from './sample-path.ts'

const actors = ['anonymous', 'other', 'member', 'owner', 'operator'] as const
type Actor = (typeof actors)[number]
type Outcome = 'allowed' | 'log-in' | 'hidden'

/** Expected result of each rule by visitor. `operator` is not a member of any organization. */
const expected: Record<Access, Record<Actor, Outcome>> = {
  public: { anonymous: 'allowed', other: 'allowed', member: 'allowed', owner: 'allowed', operator: 'allowed' },
  account: { anonymous: 'log-in', other: 'allowed', member: 'allowed', owner: 'allowed', operator: 'allowed' },
  member: { anonymous: 'log-in', other: 'hidden', member: 'allowed', owner: 'allowed', operator: 'hidden' },
  owner: { anonymous: 'log-in', other: 'hidden', member: 'hidden', owner: 'allowed', operator: 'hidden' },
  operator: { anonymous: 'log-in', other: 'hidden', member: 'hidden', owner: 'hidden', operator: 'allowed' },
}

// Of every kind one whose page is not there yet: the rules hold whichever routes the site has.
const plain = (access: Access) => [
  route('get', `/sample/${access}/:scope`, { access }, (visit) => visit.page('inside', { title: access })),
  route('post', `/sample/${access}/:scope`, { access }, (visit) => visit.redirect('/done')),
]
const samples = (Object.keys(expected) as Access[]).flatMap(plain)
const named = route('get', '/sample/named/:account', { access: 'owner', of: 'account' }, (visit) =>
  visit.page('inside', { title: 'named' }),
)
const routes = [...siteRoutes, ...samples, named]

let site: TestSite
beforeAll(async () => {
  site = await openTestSite({ routes })
  const [owner, member] = await Promise.all(
    ['owner', 'member', 'other', 'operator'].map((name) => site.browserOf(name)),
  )
  await owner.api('POST', '/v1/organisations', { username: 'acme' })
  await owner.api('PUT', '/v1/organisations/acme/members/member', { role: 'member' })
  await member.api('PUT', '/v1/invitations/acme', { role: 'member' })
})
afterAll(() => site.close())

const readers = new Map<Actor, Promise<TestBrowser>>()

/** A browser of theirs: one for all that reads, and one of its own for what may end the session. */
function browserAs(actor: Actor, method: 'get' | 'post'): Promise<TestBrowser> {
  if (actor === 'anonymous') return Promise.resolve(site.browser())
  const browser = (method === 'get' && readers.get(actor)) || site.browserOf(actor)
  if (method === 'get') readers.set(actor, browser)
  return browser
}

function outcomeOf({ status, headers, text }: TestPage): Outcome | string {
  const location = headers.get('location') ?? ''
  if (status === 303 && location.startsWith('/login')) return 'log-in'
  if (status === 404) return 'hidden'
  if (status === 403 || status >= 500) return `${status}: ${text.slice(0, 300)}`
  return 'allowed'
}

it('every route has an access rule', () => {
  const ruled = new Set(routes.map(({ method, path }) => `${method} ${path}`))
  const without = site.patterns().filter(({ method, path }) => !ruled.has(`${method} ${path}`))
  expect(without).toEqual([])
  expect(site.patterns().length).toBe(routes.length)
})

describe.each(actors)('as %s', (actor) => {
  it.each(routes.map((one) => [`${one.method} ${one.path}`, one] as const))('%s', async (_, { method, path, rule }) => {
    const browser = await browserAs(actor, method)
    const wanted = expected[rule.access][actor]
    const address = samplePath(path)
    // A stranger finds a form on the log-in page, everybody else on each.
    const token = () => browser.formToken(actor === 'anonymous' ? '/login' : '/')
    const page =
      method === 'get' ? await browser.get(address) : await browser.post(address, { form_token: await token() })
    const outcome = outcomeOf(page)
    // A page that may be seen may still have nothing to show for a name that was made up.
    if (wanted === 'allowed' && /:(?!scope\b|account\b)/.test(path)) expect(['allowed', 'hidden']).toContain(outcome)
    else expect(outcome).toBe(wanted)
  })
})

it('hidden pages look like missing ones', async () => {
  const browser = await site.browserOf('other')
  const hidden = await browser.get('/sample/owner/@acme')
  const absent = await browser.get('/sample/owner/@acme/nothing')
  const without = (page: TestPage) => page.text.replaceAll(/form_token" value="[^"]*"|name="next" value="[^"]*"/g, '')
  expect(hidden.status).toBe(absent.status)
  expect(without(hidden)).toBe(without(absent))
})

it('returns to the requested page after the login', async () => {
  const { headers } = await site.browser().get('/sample/account/@acme?tab=two&x=%2F')
  expect(headers.get('location')).toBe(`/login?next=${encodeURIComponent('/sample/account/@acme?tab=two&x=%2F')}`)
})

it('an ended session counts as anonymous', async () => {
  const browser = await site.browserOf('other')
  const [[name]] = browser.cookies
  browser.cookies.set(name, 'a'.repeat(40))
  expect((await browser.get('/')).text).toContain('href="/login"')
  expect(outcomeOf(await browser.get('/sample/account/@acme'))).toBe('log-in')
})
