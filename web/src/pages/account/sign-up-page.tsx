import type { FormFailure } from '../../app/form-failure.ts'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { ProviderLinks } from './provider-links.tsx'
import { SignInFrame } from './sign-in-frame.tsx'

type SignUpPageProps = { username?: string; email?: string; next: string; failure?: FormFailure | null }

export function SignUpPage({ username, email, next, failure = null }: SignUpPageProps) {
  return (
    <SignInFrame title="Sign up" lead="To publish, train on shared machines, buy and sell. Browsing needs no account.">
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
          label="E-mail"
          name="email"
          type="email"
          value={email}
          failure={failure}
          help="To confirm it is you and to reset your password; shown to nobody."
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
        <a href={next === '/' ? '/login' : `/login?next=${encodeURIComponent(next)}`}>Log in instead</a>
      </p>
    </SignInFrame>
  )
}
