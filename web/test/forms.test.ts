import { openTestSite, password, type TestSite } from '@agentgym/testkit/site'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { siteRoutes } from '../src/app/site-routes.ts'
import { samplePath } from './sample-path.ts'

let site: TestSite
beforeAll(async () => {
  site = await openTestSite()
})
afterAll(() => site.close())

const sessionOf = (cookies: Map<string, string>) => cookies.get('agentgym_session')

describe('forms, without a script', () => {
  it('sign up, and log in', async () => {
    const browser = site.browser()
    const done = await browser.submit('/signup?next=/packages?kind=agent', '/signup', {
      username: 'ada',
      email: 'ada@example.com',
      password,
    })
    expect([done.status, done.headers.get('location')]).toEqual([303, '/packages?kind=agent'])
    const { text } = await browser.get('/packages?kind=agent')
    expect(text).toContain('<span class="menu-name">ada</span>')
    // Who is in needs no form for it.
    expect((await browser.get('/login?next=/packages')).headers.get('location')).toBe('/packages')
  })

  it('a refused sign-up keeps values except the password, with errors at their fields', async () => {
    await site.browserOf('taken')
    const page = await site.browser().submit('/signup', '/signup', {
      username: 'taken',
      email: 'else@example.com',
      password,
      next: '/packages',
    })
    expect(page.status).toBe(409)
    expect(page.text).toContain('value="taken"')
    expect(page.text).toContain('value="else@example.com"')
    expect(page.text).toContain('name="next" value="/packages"')
    expect(page.text).not.toContain(password)
    expect(page.text).toMatch(
      /id="field-username"[^>]*aria-invalid="true"[^>]*aria-describedby="[^"]*field-username-wrong"/,
    )
    expect(page.text).toMatch(/id="field-username-wrong"[^>]*>[^<]+taken/i)
  })

  it('all invalid fields are reported at once', async () => {
    const page = await site
      .browser()
      .submit('/signup', '/signup', { username: 'grace', email: 'grace', password: 'short' })
    expect(page.status).toBe(422)
    expect(page.text).toContain('id="field-email-wrong"')
    expect(page.text).toContain('id="field-password-wrong"')
    expect(page.text).not.toContain('id="field-username-wrong"')
  })

  it('log in with a wrong password: no session, and the same response as for an unknown user', async () => {
    await site.browserOf('bob')
    const browser = site.browser()
    const answers = []
    for (const username of ['bob', 'nobody']) {
      const page = await browser.submit('/login', '/login', { username, password: 'wrong password' })
      expect(page.status).toBe(401)
      expect(sessionOf(browser.cookies)).toBeUndefined()
      answers.push(page.text.replaceAll(username, ''))
    }
    expect(answers[0]).toBe(answers[1])
    expect(answers[0]).toContain('role="alert"')
    expect(answers[0]).not.toContain('wrong password')
  })

  it('log in: a session with a new ID, whatever cookie the browser sent', async () => {
    const planted = await site.browserOf('carol')
    const before = sessionOf(planted.cookies)
    const page = await planted.get('/login')
    expect(page.status).toBe(303)
    const done = await planted.post('/login', { username: 'carol', password, form_token: await planted.formToken('/') })
    expect(done.status).toBe(303)
    expect(sessionOf(planted.cookies)).not.toBe(before)
    const stolen = site.browser()
    stolen.cookies.set('agentgym_session', before ?? '')
    expect((await stolen.get('/')).text).toContain('Sign up')
  })

  it('log out: the session ends, also for copies of its cookie', async () => {
    const browser = await site.browserOf('dave')
    const session = sessionOf(browser.cookies)
    const done = await browser.submit('/', '/logout', {})
    expect([done.status, done.headers.get('location')]).toEqual([303, '/'])
    expect(sessionOf(browser.cookies)).toBeUndefined()
    browser.cookies.set('agentgym_session', session ?? '')
    expect((await browser.get('/')).text).toContain('Sign up')
  })

  it('request a password reset: the same response for known and unknown addresses', async () => {
    await site.browserOf('erin')
    const browser = site.browser()
    // Its cookie, before two forms at once ask for one.
    await browser.get('/forgot-password')
    const [known, unknown] = await Promise.all(
      ['erin@example.com', 'nobody@example.com'].map(async (email) => {
        const { status, text } = await browser.submit('/forgot-password', '/forgot-password', { email })
        return { status, text: text.replaceAll(email, '').replaceAll(/form_token" value="[^"]*"/g, '') }
      }),
    )
    expect(known).toEqual(unknown)
    expect(known.text).toContain('an email is on its way')
    const wrong = await browser.submit('/forgot-password', '/forgot-password', { email: 'no address' })
    expect(wrong.status).toBe(422)
    expect(wrong.text).toContain('id="field-email-wrong"')
  })

  it.each(['https://evil.example/', '//evil.example', '/\\evil.example', '/\t/evil.example', 'javascript:alert(1)'])(
    'does not redirect elsewhere: %j',
    async (next) => {
      const browser = site.browser()
      const username = `u${Buffer.from(next).toString('hex').slice(0, 20)}`
      await site.browserOf(username)
      const done = await browser.submit('/login', '/login', { username, password, next })
      expect(done.headers.get('location')).toBe('/')
      const { text } = await site.browser().get(`/login?next=${encodeURIComponent(next)}`)
      expect(text).toContain('name="next" value="/"')
    },
  )

  it('the theme is stored in the browser', async () => {
    const browser = site.browser()
    const page = await browser.submit('/packages?kind=agent', '/theme', { theme: 'dark' })
    expect(page.headers.get('location')).toBe('/packages?kind=agent')
    expect((await browser.get('/')).text).toContain('data-theme="dark"')
    await browser.submit('/', '/theme', { theme: 'anything" onload="x' })
    expect((await browser.get('/')).text).not.toContain('data-theme')
  })
})

describe('foreign forms', () => {
  const guarded = siteRoutes
    .filter(({ method, rule }) => method === 'post' && rule.formToken !== false)
    .map(({ path }) => samplePath(path))

  it('only the theme needs no token', () => {
    const free = siteRoutes
      .filter(({ rule }) => rule.formToken === false)
      .map(({ method, path }) => `${method} ${path}`)
    expect(free).toEqual(['post /theme'])
  })

  it.each(siteRoutes.filter(({ method }) => method === 'post').map(({ path }) => samplePath(path)))(
    '%s from another site is refused, token or not',
    async (path) => {
      const browser = await site.browserOf('frank')
      const form_token = await browser.formToken('/')
      const foreign: Record<string, string>[] = [
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
      ]
      for (const headers of foreign) {
        const page = await browser.post(path, { form_token, theme: 'dark' }, headers)
        expect([path, page.status]).toEqual([path, 403])
        expect(page.headers.getSetCookie()).toEqual([])
      }
      expect(browser.cookies.has('agentgym_session')).toBe(true)
    },
  )

  it.each(guarded)('%s without this session’s token does nothing', async (path) => {
    const victim = await site.browserOf('frank')
    const stranger = site.browser()
    const [another, anonymous] = [
      await (await site.browserOf('mallory')).formToken('/'),
      await stranger.formToken('/login'),
    ]
    for (const form_token of ['', 'x', another, anonymous]) {
      const page = await victim.post(path, { form_token })
      expect([path, page.status]).toEqual([path, 403])
      expect(page.text).toContain('expired')
    }
    expect((await victim.get('/')).text).toContain('menu-name">frank<')
  })

  it('a token from before the login is invalid after it', async () => {
    const browser = await site.browserOf('gina')
    const session = sessionOf(browser.cookies) ?? ''
    browser.cookies.delete('agentgym_session')
    const early = await browser.formToken('/login')
    browser.cookies.set('agentgym_session', session)
    expect((await browser.post('/logout', { form_token: early })).status).toBe(403)
  })

  it('refuses a body that no form sends', async () => {
    const browser = await site.browserOf('frank')
    const form_token = await browser.formToken('/')
    for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x', ''])
      expect((await browser.post('/logout', { form_token }, { 'content-type': type })).status).toBe(422)
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`f${index}`, 'x']))
    expect((await browser.post('/logout', { form_token, ...many })).status).toBe(422)
    expect((await browser.get('/')).text).toContain('menu-name">frank<')
  })

  it('a page changes nothing', async () => {
    const browser = await site.browserOf('frank')
    for (const path of guarded) await browser.get(path)
    expect((await browser.get('/')).text).toContain('menu-name">frank<')
  })
})

describe('behind TLS', () => {
  it('cookies are Secure and bound to the host, and forms come from the public address', async () => {
    const secure = await openTestSite({
      environment: { AGENTGYM_PUBLIC_URL: 'https://gym.example.com', AGENTGYM_MAIL: 'file' },
    })
    try {
      const browser = secure.browser()
      const form = {
        username: 'ada',
        email: 'ada@example.com',
        password,
        form_token: await browser.formToken('/signup'),
      }
      expect((await browser.post('/signup', form)).status).toBe(403)
      const done = await browser.post('/signup', form, { origin: 'https://gym.example.com' })
      expect(done.status).toBe(303)
      expect([...browser.cookies.keys()].sort()).toEqual([
        '__Host-agentgym_device',
        '__Host-agentgym_session',
        '__Host-agentgym_site',
      ])
      for (const cookie of done.headers.getSetCookie()) expect(cookie).toMatch(/; Secure/i)
      const { text, headers } = await browser.get('/')
      expect(text).toContain('menu-name">ada<')
      expect((await browser.get('/publish')).text).toContain('AGENTGYM_SERVER=https://gym.example.com agentgym login')
      expect(headers.get('strict-transport-security')).toContain('max-age=')
      // The cookie name of plain HTTP is not accepted here.
      browser.cookies.set('agentgym_session', browser.cookies.get('__Host-agentgym_session') ?? '')
      browser.cookies.delete('__Host-agentgym_session')
      expect((await browser.get('/')).text).toContain('Sign up')
    } finally {
      await secure.close()
    }
  })
})
