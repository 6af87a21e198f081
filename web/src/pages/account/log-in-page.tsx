import type { FormFailure } from '../../app/form-failure.ts'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { Notice } from '../../components/notice.tsx'
import { ProviderLinks } from './provider-links.tsx'
import { SignInFrame } from './sign-in-frame.tsx'

type LogInPageProps = { username?: string; next: string; failure?: FormFailure | null; notice?: string }

export function LogInPage({ username, next, failure = null, notice }: LogInPageProps) {
  return (
    <SignInFrame title="Log in">
      {notice !== undefined && <Notice kind="success">{notice}</Notice>}
      <Form action="/login" failure={failure} fields={['username', 'password']}>
        <input type="hidden" name="next" value={next} />
        <Field
          label="Username or e-mail"
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
