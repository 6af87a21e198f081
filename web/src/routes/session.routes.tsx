import { attempt } from '../app/form-failure.ts'
import { localPath } from '../app/local-path.ts'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { ForgotPasswordPage } from '../pages/account/forgot-password-page.tsx'
import { LogInPage } from '../pages/account/log-in-page.tsx'
import { SignUpPage } from '../pages/account/sign-up-page.tsx'

export const sessionRoutes = [
  route('get', '/login', { access: 'public' }, (visit) => {
    const next = localPath(visit.query.get('next'))
    if (visit.account !== null) return visit.redirect(next)
    return visit.page(<LogInPage next={next} />, { title: 'Log in', frame: 'plain' })
  }),

  route('post', '/login', { access: 'public' }, async (visit) => {
    const { form } = visit
    const next = localPath(form.get('next'))
    const username = form.get('username').trim()
    const failure = await attempt(() => logIn(visit, username))
    if (failure === null) return visit.redirect(next)
    return visit.page(<LogInPage username={username} next={next} failure={failure} />, {
      title: 'Log in',
      frame: 'plain',
      status: failure.status,
    })
  }),

  route('get', '/signup', { access: 'public' }, (visit) => {
    const next = localPath(visit.query.get('next'))
    if (visit.account !== null) return visit.redirect(next)
    return visit.page(<SignUpPage next={next} />, { title: 'Sign up', frame: 'plain' })
  }),

  route('post', '/signup', { access: 'public' }, async (visit) => {
    const { form, api } = visit
    const next = localPath(form.get('next'))
    const [username, email] = [form.get('username').trim(), form.get('email').trim()]
    const failure = await attempt(async () => {
      await api.POST('/v1/accounts', { body: { username, email, password: form.get('password') } })
      await logIn(visit, username)
    })
    if (failure === null) return visit.redirect(next)
    return visit.page(<SignUpPage username={username} email={email} next={next} failure={failure} />, {
      title: 'Sign up',
      frame: 'plain',
      status: failure.status,
    })
  }),

  route('post', '/logout', { access: 'account' }, async (visit) => {
    await visit.api.DELETE('/v1/sessions/current')
    return visit.redirect('/')
  }),

  route('get', '/forgot-password', { access: 'public' }, (visit) =>
    visit.page(<ForgotPasswordPage />, { title: 'Reset your password', frame: 'plain' }),
  ),

  route('post', '/forgot-password', { access: 'public' }, async (visit) => {
    const email = visit.form.get('email').trim()
    const failure = await attempt(() => visit.api.POST('/v1/password-resets', { body: { email } }))
    return visit.page(<ForgotPasswordPage email={email} failure={failure} sent={failure === null} />, {
      title: 'Reset your password',
      frame: 'plain',
      status: failure?.status,
    })
  }),
]

/** The API sets the session's cookie, which goes on to the browser. */
async function logIn({ api, form }: Visit, username: string): Promise<void> {
  await api.POST('/v1/sessions', { body: { username, password: form.get('password') } })
}
