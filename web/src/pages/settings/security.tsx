import type { SecondFactor, SecurityKeyList } from '@agentgym/contract'
import { AgentGymError } from '@agentgym/contract'
import { encode } from 'uqr'
import { attempt, type FormFailure } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { Badge } from '../../components/badge.tsx'
import { Button, Command } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { Notice } from '../../components/messages.tsx'
import { Time } from '../../components/values.tsx'
import { useIsland } from '../../layout/page-context.ts'
import { localPath } from '../../session/same-site.ts'
import { SettingsFrame } from './settings-frame.tsx'

const account = { access: 'account' } as const
const api = '/v1/account/second-factor'
/** Field of a refused password or code. */
const fieldOf = { credentials_invalid: 'current_password', second_factor_invalid: 'code' }

export const securityRoutes = [
  route('get', '/settings/security', account, (visit) => showSecurity(visit, {})),

  route('post', '/settings/security/begin', account, async (visit) => {
    const current_password = visit.form.get('current_password')
    let secret: Secret | undefined
    const failure = await attempt(async () => {
      secret = (await visit.api.POST(api, { body: { current_password } })).data
    }, fieldOf)
    // No redirect: the secret must not appear in a URL and is shown only once.
    return showSecurity(visit, { secret, failure })
  }),

  route('post', '/settings/security/enable', account, async (visit) => {
    let codes: string[] | undefined
    const failure = await attempt(async () => {
      codes = (await visit.api.PUT(api, { body: { code: visit.form.get('code').trim() || '-' } })).data.recovery_codes
    }, fieldOf)
    return showSecurity(visit, { codes, failure, entering: failure?.fields.code !== undefined })
  }),

  route('post', '/settings/security/recovery-codes', account, async (visit) => {
    let codes: string[] | undefined
    const failure = await attempt(async () => {
      codes = (await visit.api.POST(`${api}/recovery-codes`)).data.recovery_codes
    })
    return showSecurity(visit, { codes, failure })
  }),

  route('post', '/settings/security/remove', account, async (visit) => {
    const failure = await attempt(() => visit.api.DELETE(api))
    return failure === null ? visit.redirect('/settings/security') : showSecurity(visit, { failure })
  }),

  route('post', '/settings/security/keys/:id/remove', account, async (visit) => {
    const { id } = visit.params
    await visit.api.DELETE('/v1/account/security-keys/{id}', { params: { path: { id } } })
    return visit.redirect('/settings/security')
  }),

  route('get', '/settings/security/confirm', account, (visit) => showConfirm(visit, visit.query.get('next'))),

  route('post', '/settings/security/confirm', account, async (visit) => {
    const next = visit.form.get('next')
    const code = visit.form.get('code').trim() || '-'
    const failure = await attempt(
      () => visit.api.POST('/v1/sessions/current/second-factor', { body: { code } }),
      fieldOf,
    )
    return failure === null ? visit.redirect(localPath(next)) : showConfirm(visit, next, failure)
  }),
]

type Secret = { secret: string; uri: string }

type Shown = {
  failure?: FormFailure | null
  secret?: Secret | undefined
  codes?: string[] | undefined
  /** A wrong code was entered; the user can try again. */
  entering?: boolean
}

async function showSecurity(visit: Visit, shown: Shown): Promise<Response> {
  const { data } = await visit.api.GET(api)
  const { data: keys } = await visit.api.GET('/v1/account/security-keys')
  return visit.page(<SecurityPage state={data} keys={keys} {...shown} />, {
    title: 'Security',
    status: shown.failure?.status,
    hidden: true,
  })
}

async function showConfirm(visit: Visit, next: string | null, failure: FormFailure | null = null): Promise<Response> {
  const byKey = await hasSecurityKey(visit)
  return visit.page(<ConfirmPage next={localPath(next)} failure={failure} byKey={byKey} />, {
    title: 'Confirm it’s you',
    frame: 'plain',
    status: failure?.status,
    hidden: true,
  })
}

/** The second factor: none, being set up, or enabled. */
type State = { state: SecondFactor; keys: SecurityKeyList }

function SecurityPage({ state, keys, failure = null, secret, codes, entering = false }: Shown & State) {
  return (
    <SettingsFrame>
      {codes !== undefined && <RecoveryCodes codes={codes} />}
      <section aria-labelledby="second-factor">
        <h2 id="second-factor">Second factor</h2>
        {state.enabled_at !== null ? (
          <Enabled state={state} failure={failure} />
        ) : secret !== undefined || entering ? (
          <EnterFirstCode secret={secret} failure={failure} />
        ) : (
          <Begin failure={failure} />
        )}
      </section>
      {state.enabled_at !== null && <SecurityKeys keys={keys} />}
    </SettingsFrame>
  )
}

function Begin({ failure }: { failure: FormFailure | null }) {
  return (
    <>
      <p>
        Logging in will require a code from an authenticator app. So will payouts, price changes, new tokens and
        operator actions.
      </p>
      <Form action="/settings/security/begin" failure={failure} fields={['current_password']}>
        <Field
          label="Current password"
          name="current_password"
          type="password"
          failure={failure}
          help="Leave empty if your account has no password."
          autocomplete="current-password"
        />
        <Button look="primary">Set up authenticator app</Button>
      </Form>
    </>
  )
}

function EnterFirstCode({ secret, failure }: { secret: Secret | undefined; failure: FormFailure | null }) {
  return (
    <>
      {secret === undefined ? (
        <p>
          Enter the code that your app shows now, or <a href="/settings/security">start again</a>.
        </p>
      ) : (
        <>
          <p>Scan this with your authenticator app, or enter the secret there. It won't be shown again.</p>
          <QrCode text={secret.uri} label="QR code for your authenticator app" />
          <Command text={secret.secret} label="Copy secret" />
          <Command text={secret.uri} label="Copy URI" />
        </>
      )}
      <Form action="/settings/security/enable" failure={failure} fields={['code']}>
        <Field
          label="Code"
          name="code"
          required
          help="Six digits from your app."
          autocomplete="one-time-code"
          maxlength={60}
          failure={failure}
        />
        <Button look="primary">Enable second factor</Button>
      </Form>
    </>
  )
}

function Enabled({ state, failure }: { state: SecondFactor; failure: FormFailure | null }) {
  return (
    <>
      <div class="settings-row">
        <span>Authenticator app</span>
        <Badge tone="good">enabled</Badge>
        <span class="dim">{state.recovery_codes_left} of 10 recovery codes left</span>
      </div>
      <Form action="/settings/security/recovery-codes" look="inline" label="Recovery codes" failure={failure}>
        <Button>Replace recovery codes</Button>
      </Form>
      <Form action="/settings/security/remove" look="inline" label="Second factor">
        <Button look="danger">Remove second factor</Button>
      </Form>
    </>
  )
}

/** Security keys of the account, and the form to add one, which needs JavaScript. */
function SecurityKeys({ keys: { available, security_keys: keys } }: { keys: SecurityKeyList }) {
  useIsland('security-key')
  return (
    <section aria-labelledby="security-keys">
      <h2 id="security-keys">Security keys and passkeys</h2>
      <p>
        You can use a key instead of codes on this site. Codes still work, for example with{' '}
        <code>agentgym login --username</code> and browsers without scripts.
      </p>
      {keys.map(({ id, name, synced, created_at, last_used_at }) => (
        <div class="settings-row">
          <strong>{name}</strong>
          {synced && <Badge>synced</Badge>}
          <span class="dim">
            added <Time at={created_at} />
            {last_used_at === null ? ', never used' : ', used '}
            {last_used_at !== null && <Time at={last_used_at} />}
          </span>
          <Form action={`/settings/security/keys/${id}/remove`} look="inline" label={name}>
            <Button size="small" look="danger">
              Remove
            </Button>
          </Form>
        </div>
      ))}
      {available && <noscript>Adding a key needs JavaScript.</noscript>}
      {available ? (
        <div class="form form-stack" data-add-key hidden>
          <div class="field">
            <label for="key-name">Name</label>
            <input id="key-name" maxlength={80} autocomplete="off" aria-describedby="key-name-help" />
            <p class="field-help" id="key-name-help">
              For example, the key’s color, or its device.
            </p>
          </div>
          <p class="field-message" role="alert" />
          <button class="button button-quiet" type="button">
            Add security key
          </button>
        </div>
      ) : (
        <p class="dim">Browsers support security keys only at an https address with a host name.</p>
      )}
    </section>
  )
}

/** Whether the session, including one that awaits its second factor, can be confirmed with a key. */
export async function hasSecurityKey({ api }: Visit): Promise<boolean> {
  try {
    return (await api.GET('/v1/sessions/current/second-factor')).data.security_key
  } catch (error) {
    if (error instanceof AgentGymError && error.code === 'unauthenticated') return false
    throw error
  }
}

/** Confirms with a key, if the browser supports it, and continues to `next`. */
export function UseSecurityKey({ next }: { next: string }) {
  useIsland('security-key')
  return (
    <div class="form form-stack" data-use-key={next} hidden>
      <p class="field-message" role="alert" />
      <button class="button button-quiet" type="button">
        Use security key
      </button>
    </div>
  )
}

function RecoveryCodes({ codes }: { codes: string[] }) {
  return (
    <section aria-labelledby="recovery-codes">
      <h2 id="recovery-codes">Recovery codes</h2>
      <Notice kind="success">Save these codes now. They won't be shown again.</Notice>
      <p>Each one logs you in once if you lose your authenticator app.</p>
      <Command text={codes.join('\n')} label="Copy codes" />
    </section>
  )
}

/** Asks for a code before a protected action. */
function ConfirmPage({ next, failure, byKey }: { next: string; failure: FormFailure | null; byKey: boolean }) {
  return (
    <div class="sign-in">
      <h1>Confirm it’s you</h1>
      <p class="lead">Confirm your second factor, then submit the form again. Nothing has changed yet.</p>
      <CodeForm action="/settings/security/confirm" next={next} failure={failure} />
      {byKey && <UseSecurityKey next={next} />}
    </div>
  )
}

/** Form for a second-factor code; continues to `next`. */
export function CodeForm({ action, next, failure }: { action: string; next: string; failure: FormFailure | null }) {
  return (
    <Form action={action} failure={failure} fields={['code']}>
      <input type="hidden" name="next" value={next} />
      <Field
        label="Code"
        name="code"
        required
        autofocus
        help="Six digits from your authenticator app, or a recovery code."
        autocomplete="one-time-code"
        maxlength={60}
        failure={failure}
      />
      <Button look="primary">Continue</Button>
    </Form>
  )
}

/** A single path, dark on light in every theme, as cameras expect. */
function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { border: 4 })
  const path = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join('')
  return (
    <svg class="qr-code" viewBox={`0 0 ${size} ${size}`} width="220" height="220" role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" shape-rendering="crispEdges" />
    </svg>
  )
}
