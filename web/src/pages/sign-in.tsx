import { AgentGymError } from '@agentgym/contract'
import type { Child } from 'hono/jsx'
import { attempt, type FormFailure } from '../app/form.ts'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { Button } from '../components/controls.tsx'
import { Field, Form } from '../components/form.tsx'
import { Notice } from '../components/messages.tsx'
import { usePage } from '../layout/page-context.ts'
import { localPath } from '../session/same-site.ts'
import { CodeForm, hasSecurityKey, UseSecurityKey } from './settings/security.tsx'

export const signInRoutes = [
  route('get', '/login', { access: 'public' }, (visit) => {
    const next = localPath(visit.query.get('next'))
    if (visit.account !== null) return visit.redirect(next)
    return visit.page(<LogInPage next={next} />, { title: 'Log in', frame: 'plain' })
  }),

  route('post', '/login', { access: 'public' }, async (visit) => {
    const { form } = visit
    const next = localPath(form.get('next'))
    const username = form.get('username').trim()
    let awaitsCode = false
    const failure = await attempt(async () => {
      awaitsCode = !(await logIn(visit, username))
    })
    // The API has set the cookie of a session that only permits entering the code.
    if (awaitsCode) return visit.redirect(`/login/code?next=${encodeURIComponent(next)}`)
    if (failure === null) return visit.redirect(next)
    return visit.page(<LogInPage username={username} next={next} failure={failure} />, {
      title: 'Log in',
      frame: 'plain',
      status: failure.status,
    })
  }),

  route('get', '/login/code', { access: 'public' }, (visit) => showCode(visit, localPath(visit.query.get('next')))),

  route('post', '/login/code', { access: 'public' }, async (visit) => {
    const next = localPath(visit.form.get('next'))
    const code = visit.form.get('code').trim() || '-'
    try {
      const enter = () => visit.api.POST('/v1/sessions/current/second-factor', { body: { code } })
      const failure = await attempt(enter, { second_factor_invalid: 'code' })
      return failure === null ? visit.redirect(next) : showCode(visit, next, failure)
    } catch (error) {
      if (!(error instanceof AgentGymError) || error.code !== 'unauthenticated') throw error
      return showCode(visit, next, { status: 401, fields: {}, message: error.message, hint: null })
    }
  }),

  route('get', '/login/organization', { access: 'public' }, (visit) => {
    const { query } = visit
    const known = { next: localPath(query.get('next')), email: query.get('email')?.trim() ?? '' }
    return visit.page(<OrganizationLogInPage {...known} failed={query.get('failed')} />, {
      title: 'Log in with your organization',
      frame: 'plain',
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

/** Logs in; the API's session cookie is forwarded to the browser. False if a second-factor code is still needed. */
async function logIn({ api, form }: Visit, username: string): Promise<boolean> {
  try {
    await api.POST('/v1/sessions', { body: { username, password: form.get('password') } })
    return true
  } catch (error) {
    if (!(error instanceof AgentGymError) || error.code !== 'second_factor_required') throw error
    return false
  }
}

async function showCode(visit: Visit, next: string, failure: FormFailure | null = null): Promise<Response> {
  const byKey = await hasSecurityKey(visit)
  return visit.page(<CodePage next={next} failure={failure} byKey={byKey} />, {
    title: 'Enter your code',
    frame: 'plain',
    status: failure?.status,
    hidden: true,
  })
}

/** The second step of a login. */
function CodePage({ next, failure, byKey }: { next: string; failure: FormFailure | null; byKey: boolean }) {
  return (
    <SignInFrame title="Enter your code" lead="From your authenticator app, or a recovery code.">
      <CodeForm action="/login/code" next={next} failure={failure} />
      {byKey && <UseSecurityKey next={next} />}
      <p class="sign-in-other">
        <a href={`/login?next=${encodeURIComponent(next)}`}>Back to login</a>
      </p>
    </SignInFrame>
  )
}

type LogInPageProps = { username?: string; next: string; failure?: FormFailure | null; notice?: string }

function LogInPage({ username, next, failure = null, notice }: LogInPageProps) {
  return (
    <SignInFrame title="Log in">
      {notice !== undefined && <Notice kind="success">{notice}</Notice>}
      <Form action="/login" failure={failure} fields={['username', 'password']}>
        <input type="hidden" name="next" value={next} />
        <Field
          label="Username or email"
          name="username"
          value={username}
          failure={failure}
          autocomplete="username"
          maxlength={254}
          required
          autofocus
        />
        <Field
          label="Password"
          name="password"
          type="password"
          failure={failure}
          autocomplete="current-password"
          required
        />
        <Button look="primary">Log in</Button>
      </Form>
      <ProviderLinks next={next} />
      <p class="sign-in-other">
        <a href="/forgot-password">Forgot your password?</a>
        <a href={next === '/' ? '/signup' : `/signup?next=${encodeURIComponent(next)}`}>Sign up</a>
      </p>
    </SignInFrame>
  )
}

type SignUpPageProps = { username?: string; email?: string; next: string; failure?: FormFailure | null }

function SignUpPage({ username, email, next, failure = null }: SignUpPageProps) {
  return (
    <SignInFrame
      title="Sign up"
      lead="Publish, train on shared machines, buy and sell. You don't need an account to browse."
    >
      <Form action="/signup" failure={failure} fields={['username', 'email', 'password']}>
        <input type="hidden" name="next" value={next} />
        <Field
          label="Username"
          name="username"
          value={username}
          failure={failure}
          help="Lower-case letters, digits and hyphens. Your packages are named @username/…"
          autocomplete="username"
          maxlength={100}
          required
          autofocus
        />
        <Field
          label="Email"
          name="email"
          type="email"
          value={email}
          failure={failure}
          help="For account confirmation and password resets. Never shown to others."
          autocomplete="email"
          maxlength={254}
          required
        />
        <Field
          label="Password"
          name="password"
          type="password"
          failure={failure}
          help="At least 10 characters."
          autocomplete="new-password"
          minlength={10}
          maxlength={200}
          required
        />
        <Button look="primary">Sign up</Button>
      </Form>
      <ProviderLinks next={next} />
      <p class="sign-in-other">
        <a href={next === '/' ? '/login' : `/login?next=${encodeURIComponent(next)}`}>
          Already have an account? Log in
        </a>
      </p>
    </SignInFrame>
  )
}

type ForgotPasswordPageProps = { email?: string; failure?: FormFailure | null; sent?: boolean }

/** Requests a mail with a link. The response is the same whether or not an account uses the address. */
function ForgotPasswordPage({ email, failure = null, sent = false }: ForgotPasswordPageProps) {
  return (
    <SignInFrame title="Reset your password" lead="We'll email you a link to choose a new one.">
      {sent && <Notice kind="success">If an account uses this address, an email is on its way.</Notice>}
      <Form action="/forgot-password" failure={failure} fields={['email']}>
        <Field
          label="Email"
          name="email"
          type="email"
          value={email}
          failure={failure}
          autocomplete="email"
          maxlength={254}
          required
          autofocus
        />
        <Button look="primary">Send link</Button>
      </Form>
      <p class="sign-in-other">
        <a href="/login">Log in</a>
      </p>
    </SignInFrame>
  )
}

const titles: Record<string, string> = { github: 'GitHub', google: 'Google' }

const signOnFailures: Record<string, string> = {
  oauth_not_configured: 'No organization on this server uses single sign-on for that address.',
  oauth_failed: 'Your organization did not confirm the login. Try again, or ask its owner to check the setup.',
}

/** The email address selects the organization's provider. Uses a link, because forms may only lead to this site. */
function OrganizationLogInPage({ next, email, failed }: { next: string; email: string; failed: string | null }) {
  const start = `/v1/sign-on?${new URLSearchParams({ email, return_to: next })}`
  return (
    <SignInFrame title="Log in with your organization" lead="Enter your work email address.">
      {failed !== null && <Notice kind="failure">{signOnFailures[failed] ?? signOnFailures.oauth_failed}</Notice>}
      {email === '' || failed !== null ? (
        <form class="form form-stack" method="get" action="/login/organization">
          <input type="hidden" name="next" value={next} />
          <Field label="Email" name="email" type="email" value={email} autocomplete="email" required autofocus />
          <Button look="primary">Next</Button>
        </form>
      ) : (
        <Button look="primary" href={start}>
          Continue as {email}
        </Button>
      )}
      <p class="sign-in-other">
        <a href={`/login?next=${encodeURIComponent(next)}`}>Log in with a password</a>
      </p>
    </SignInFrame>
  )
}

/** Login through external providers, if configured. */
function ProviderLinks({ next }: { next: string }) {
  const { host } = usePage()
  return (
    <div class="providers">
      <p class="providers-or">or</p>
      {host.oauthProviders.map((provider) => (
        <Button href={`/v1/oauth/${provider}?return_to=${encodeURIComponent(next)}`}>
          Continue with {titles[provider] ?? provider}
        </Button>
      ))}
      <Button href={`/login/organization?next=${encodeURIComponent(next)}`}>Continue with your organization</Button>
    </div>
  )
}

/** A narrow page for a single task. */
function SignInFrame({ title, lead, children }: { title: string; lead?: Child; children?: Child }) {
  return (
    <div class="sign-in">
      <h1>{title}</h1>
      {lead !== undefined && <p class="lead">{lead}</p>}
      {children}
    </div>
  )
}
