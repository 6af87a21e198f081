import type { FormFailure } from '../../app/form-failure.ts'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { Notice } from '../../components/notice.tsx'
import { SignInFrame } from './sign-in-frame.tsx'

type ForgotPasswordPageProps = { email?: string; failure?: FormFailure | null; sent?: boolean }

/** Asks for a mail with a link. What it says is the same whether an account has the address or not. */
export function ForgotPasswordPage({ email, failure = null, sent = false }: ForgotPasswordPageProps) {
  return (
    <SignInFrame title="Reset your password" lead="A mail with a link lets you choose a new one.">
      {sent && <Notice kind="success">If an account has this address, a mail is on its way.</Notice>}
      <Form action="/forgot-password" failure={failure} fields={['email']}>
        <Field
          label="E-mail"
          name="email"
          type="email"
          value={email}
          failure={failure}
          autocomplete="email"
          maxlength={254}
          required
          autofocus
        />
        <Button look="primary">Send the mail</Button>
      </Form>
      <p class="sign-in-other">
        <a href="/login">Log in</a>
      </p>
    </SignInFrame>
  )
}
