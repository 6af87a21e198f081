import type { OwnAccount } from '@agentgym/contract'
import type { FormFailure } from '../../app/form-failure.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { Notice } from '../../components/notice.tsx'
import { SettingsFrame } from './settings-frame.tsx'

type AccountPageProps = { account: OwnAccount; failure?: FormFailure | null; done?: string | null }

const told: Record<string, string> = {
  password: 'The password is changed, and every other session has ended.',
  mail: 'The mail is on its way.',
}

/** Who one is here: address and password. */
export function AccountPage({ account, failure = null, done = null }: AccountPageProps) {
  const message = done === null ? undefined : told[done]
  return (
    <SettingsFrame>
      {message !== undefined && <Notice kind="success">{message}</Notice>}
      <section aria-labelledby="you">
        <h2 id="you">{account.username}</h2>
        <div class="settings-row">
          <span>{account.email ?? 'No e-mail address'}</span>
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
            <Button>Send the mail that confirms it</Button>
          </Form>
        )}
      </section>
      <section aria-labelledby="password">
        <h2 id="password">Change the password</h2>
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
            help="At least 10 characters. It ends every other session."
            failure={failure}
          />
          <Button look="primary">Change the password</Button>
        </Form>
      </section>
    </SettingsFrame>
  )
}
