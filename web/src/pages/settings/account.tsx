import assert from 'node:assert/strict'
import type { EmailChange, OwnAccount } from '@agentgym/contract'
import type { FormFailure } from '../../app/form.ts'
import { attempt } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { Notice } from '../../components/messages.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import { SettingsFrame } from './settings-frame.tsx'

const account = { access: 'account' } as const
const changePath = '/v1/account/email-change'

export const accountRoutes = [
  route('get', '/settings', account, (visit) => visit.redirect('/settings/account')),

  route('get', '/settings/account', account, (visit) => showAccount(visit, { done: visit.query.get('done') })),

  route('post', '/settings/account/password', account, async (visit) => {
    const { api, form } = visit
    const revoke_tokens = form.get('revoke_tokens') === 'yes'
    const body = { current_password: form.get('current_password'), password: form.get('password'), revoke_tokens }
    const failure = await attempt(() => api.PUT('/v1/account/password', { body }))
    if (failure === null)
      return visit.redirect(`/settings/account?done=${revoke_tokens ? 'password-tokens' : 'password'}`)
    return showAccount(visit, { failure })
  }),

  route('post', '/settings/account/verification-mail', account, async (visit) => {
    const failure = await attempt(() => visit.api.POST('/v1/account/verification-mail'))
    return failure === null ? visit.redirect('/settings/account?done=mail') : showAccount(visit, { failure })
  }),

  route('post', '/settings/account/email', account, async (visit) => {
    const { api, form } = visit
    const email = form.get('email').trim()
    // The page has two fields with that name, so this form's field is renamed.
    const current_password = form.get('email_password')
    const emailFailure = await attempt(() => api.POST(changePath, { body: { email, current_password } }), {
      email_taken: 'email',
      credentials_invalid: 'email_password',
    })
    return emailFailure === null
      ? visit.redirect('/settings/account?done=email')
      : showAccount(visit, { emailFailure, email })
  }),

  route('post', '/settings/account/email/cancel', account, async (visit) => {
    await visit.api.DELETE(changePath)
    return visit.redirect('/settings/account?done=email-canceled')
  }),

  route('get', '/settings/sessions', account, async (visit) => {
    const { data } = await visit.api.GET('/v1/sessions')
    return visit.page(<SessionsPage sessions={data.sessions} />, { title: 'Sessions', hidden: true })
  }),

  route('post', '/settings/sessions', account, async (visit) => {
    const wanted = visit.form.get('id')
    if (wanted === 'everywhere') {
      await visit.api.POST('/v1/account/sign-out', { body: {} })
      return visit.redirect('/login')
    }
    const { data } = await visit.api.GET('/v1/sessions')
    const ended = data.sessions.filter(({ id, current }) => (wanted === 'others' ? !current : id === wanted))
    for (const { id } of ended) await visit.api.DELETE('/v1/sessions/{id}', { params: { path: { id } } })
    return visit.redirect('/settings/sessions')
  }),
]

type Shown = { failure?: FormFailure | null; emailFailure?: FormFailure | null; email?: string; done?: string | null }

async function showAccount(visit: Visit, { failure = null, emailFailure = null, email, done = null }: Shown) {
  assert(visit.account !== null, 'a page for accounts without one')
  const { data } = await visit.api.GET('/v1/account/email-change')
  const change = { pending: data.email_change, failure: emailFailure, entered: email }
  return visit.page(<AccountPage account={visit.account} change={change} failure={failure} done={done} />, {
    title: 'Account',
    status: (failure ?? emailFailure)?.status,
    hidden: true,
  })
}

type AccountPageProps = { account: OwnAccount; change: Change; failure?: FormFailure | null; done?: string | null }

const messages: Record<string, string> = {
  password: 'Password changed. All other sessions have ended.',
  'password-tokens': 'Password changed. All other sessions have ended, and all tokens are revoked.',
  mail: 'Confirmation email sent.',
  email: 'Check your email to confirm the change.',
  'email-canceled': 'The change of your email address is canceled.',
}

type Change = { pending: EmailChange | null; failure: FormFailure | null; entered: string | undefined }

/** Email address and password of the account. */
function AccountPage({ account, change, failure = null, done = null }: AccountPageProps) {
  const message = done === null ? undefined : messages[done]
  return (
    <SettingsFrame>
      {message !== undefined && <Notice kind="success">{message}</Notice>}
      <section aria-labelledby="you">
        <h2 id="you">{account.username}</h2>
        <div class="settings-row">
          <span>{account.email ?? 'No email address'}</span>
          {account.email !== null &&
            (account.email_verified ? (
              <Badge tone="good">confirmed</Badge>
            ) : (
              <Badge tone="warning">not confirmed</Badge>
            ))}
          {account.operator && <Badge>operator</Badge>}
        </div>
        {account.email !== null && !account.email_verified && (
          <Form action="/settings/account/verification-mail" look="inline">
            <Button>Send confirmation email</Button>
          </Form>
        )}
      </section>
      <EmailSection account={account} {...change} />
      <section aria-labelledby="password">
        <h2 id="password">Password</h2>
        <Form action="/settings/account/password" failure={failure} fields={['current_password', 'password']}>
          <Field
            label="Current password"
            name="current_password"
            type="password"
            required
            autocomplete="current-password"
            failure={failure}
          />
          <Field
            label="New password"
            name="password"
            type="password"
            required
            minlength={10}
            maxlength={200}
            autocomplete="new-password"
            help="At least 10 characters. Ends all other sessions."
            failure={failure}
          />
          <fieldset class="scope-boxes">
            <legend>Tokens</legend>
            <label>
              <input type="checkbox" name="revoke_tokens" value="yes" />
              <span>Revoke all tokens too, if someone else may know the password</span>
            </label>
          </fieldset>
          <Button look="primary">Change password</Button>
        </Form>
      </section>
    </SettingsFrame>
  )
}

/** The pending change, and the form for a new one. */
function EmailSection({ account, pending, failure, entered }: Change & { account: OwnAccount }) {
  const both = account.email !== null && account.email_verified
  return (
    <section aria-labelledby="email">
      <h2 id="email">Email address</h2>
      {pending !== null && <PendingChange pending={pending} />}
      <Form action="/settings/account/email" failure={failure} fields={['email', 'email_password']}>
        <Field
          label="New email address"
          name="email"
          type="email"
          value={entered}
          required
          maxlength={254}
          autocomplete="email"
          help={
            both
              ? 'Both addresses get a link. The change takes effect once both links are used, within 24 hours.'
              : 'The new address gets a link. The change takes effect once it is used, within 24 hours.'
          }
          failure={failure}
        />
        <Field
          label="Current password"
          name="email_password"
          type="password"
          help="Leave empty if your account has no password."
          autocomplete="current-password"
          failure={failure}
        />
        <Button>Change email address</Button>
      </Form>
    </section>
  )
}

function PendingChange({ pending }: { pending: EmailChange }) {
  const { new: byNew, old: byOld } = pending.confirmed
  const badge = (confirmed: boolean) => (
    <Badge tone={confirmed ? 'good' : 'warning'}>{confirmed ? 'confirmed' : 'not confirmed'}</Badge>
  )
  return (
    <>
      <p>
        Changing to <strong>{pending.email}</strong>. The links work until{' '}
        {pending.expires_at.slice(0, 16).replace('T', ' ')} UTC.
      </p>
      <div class="settings-row">
        <span>New address</span>
        {badge(byNew)}
        {byOld !== null && <span>Current address</span>}
        {byOld !== null && badge(byOld)}
      </div>
      <Form action="/settings/account/email/cancel" look="inline">
        <Button>Cancel the change</Button>
      </Form>
    </>
  )
}

type ListedSession = { id: string; current: boolean; created_at: string; expires_at: string }

/** Active sessions. */
function SessionsPage({ sessions }: { sessions: ListedSession[] }) {
  return (
    <SettingsFrame>
      <section aria-labelledby="sessions">
        <h2 id="sessions">Sessions</h2>
        <p class="lead">If you don't recognize a session, end it and change your password.</p>
        <Table
          caption="Active sessions"
          rows={sessions}
          columns={[
            {
              title: 'Session',
              heading: true,
              cell: ({ id, current }) => (
                <span class="settings-row">
                  <code>{id.slice(0, 8)}</code>
                  {current && <Badge tone="good">this browser</Badge>}
                </span>
              ),
            },
            { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
            { title: 'Expires', cell: ({ expires_at }) => expires_at.slice(0, 10), wide: true },
            {
              title: 'Action',
              cell: ({ id, current }) =>
                !current && (
                  <Form action="/settings/sessions" look="inline" label={`Session ${id.slice(0, 8)}`}>
                    <Button size="small" look="danger" name="id" value={id}>
                      End session
                    </Button>
                  </Form>
                ),
            },
          ]}
        />
        <Form action="/settings/sessions" look="inline">
          {sessions.some(({ current }) => !current) && (
            <Button name="id" value="others">
              End all other sessions
            </Button>
          )}
          <Button name="id" value="everywhere" look="danger">
            Sign out everywhere and revoke all tokens
          </Button>
        </Form>
      </section>
    </SettingsFrame>
  )
}
