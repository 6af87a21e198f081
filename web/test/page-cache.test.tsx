import { openTestSite, type TestBrowser, type TestSite } from '@agentgym/testkit/site'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { route } from '../src/app/route.ts'
import { siteRoutes } from '../src/app/site-routes.ts'
import { Form } from '../src/components/form.tsx'

let drawn = 0
const text = () => <p>drawn {++drawn}</p>
const routes = [
  route('get', '/plain', { access: 'public' }, (visit) => visit.page(text(), { title: 'Plain' })),
  route('get', '/signed', { access: 'public' }, (visit) => {
    const body = (
      <Form action="/signed">
        <p>drawn {++drawn}</p>
      </Form>
    )
    return visit.page(body, { title: 'Signed' })
  }),
  route('get', '/failed', { access: 'public' }, (visit) => visit.page(text(), { title: 'Failed', status: 404 })),
  route('get', '/choosing', { access: 'public' }, (visit) => {
    visit.setCookie('chosen=1; Path=/')
    return visit.page(text(), { title: 'Choosing' })
  }),
  route('get', '/mine', { access: 'account' }, (visit) => visit.page(text(), { title: 'Mine' })),
  route('get', '/absent', { access: 'public' }, async (visit) => {
    const path = '/v1/packages/{scope}/{name}'
    await visit.api.GET(path, { params: { path: { scope: '@nobody', name: 'none' } } }).catch(() => {})
    return visit.page(text(), { title: 'Absent' })
  }),
]

let site: TestSite
let ada: TestBrowser
beforeAll(async () => {
  site = await openTestSite({ routes: [...siteRoutes, ...routes] })
  ada = await site.browserOf('ada')
  await ada.get('/')
})
afterAll(() => site.close())

const drawnBy = async (path: string, headers: Record<string, string> = {}, browser = site.browser()) =>
  /drawn (?:<!-- -->)?(\d+)/.exec((await browser.get(path, headers)).text)?.[1]

// Within three seconds: a machine that is busy may take longer than that for a test.
describe('a public page', { retry: 2 }, () => {
  it('is rendered once for all anonymous visitors, with the usual headers', async () => {
    const first = await site.browser().get('/plain')
    const again = await site.browser().get('/plain')
    expect(again.text).toBe(first.text)
    expect(again.text).toContain('drawn')
    for (const name of ['content-type', 'content-security-policy', 'cache-control', 'x-content-type-options'])
      expect(again.headers.get(name)).toBe(first.headers.get(name))
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
  })

  it('depends on query and theme', async () => {
    const plain = await drawnBy('/plain')
    const others = [await drawnBy('/plain?q=1'), await drawnBy('/plain', { cookie: 'agentgym_theme=dark' })]
    expect(new Set([plain, ...others]).size).toBe(3)
    expect(await drawnBy('/plain', { cookie: 'agentgym_theme=none-of-them; other=1' })).toBe(plain)
  })

  it('is rendered anew for requests with a session, valid or not, and theirs is never shared', async () => {
    const plain = await drawnBy('/plain')
    const hers = await drawnBy('/plain', {}, ada)
    expect(hers).not.toBe(plain)
    expect(await drawnBy('/plain', {}, ada)).not.toBe(hers)
    expect(await drawnBy('/plain', { cookie: 'agentgym_session=none' })).not.toBe(plain)
    expect((await ada.get('/plain')).text).toContain('ada')
    expect((await site.browser().get('/plain')).text).not.toContain('ada')
    expect(await drawnBy('/plain')).toBe(plain)
    expect(await drawnBy('/mine', {}, ada)).not.toBe(await drawnBy('/mine', {}, ada))
    expect(await drawnBy('/mine')).toBeUndefined()
  })

  it('contains no form: tokens and cookies are per browser', async () => {
    const [one, other] = [await site.browser().get('/signed'), await site.browser().get('/signed')]
    const token = (page: string) => /name="form_token" value="([^"]+)"/.exec(page)?.[1]
    expect(token(one.text)).toBeDefined()
    expect(token(one.text)).not.toBe(token(other.text))
    expect(one.headers.get('set-cookie')).not.toBe(other.headers.get('set-cookie'))
    // Nor where the browser has the cookie already, and nothing is set.
    const browser = site.browser()
    await browser.get('/signed')
    const mine = token((await browser.get('/signed')).text)
    expect(mine).not.toBe(token((await site.browser().get('/signed')).text))
  })

  it.each(['/failed', '/choosing', '/absent'])('does not include %s', async (path) => {
    expect(await drawnBy(path)).not.toBe(await drawnBy(path))
  })

  it('is as recent as its responses, at most three seconds old', async () => {
    const plain = await drawnBy('/plain?old')
    await new Promise((resolve) => setTimeout(resolve, 3_100))
    expect(await drawnBy('/plain?old')).not.toBe(plain)
  })
})
