import { attempt, type FormFailure } from '../app/form.ts'
import { route } from '../app/route.ts'
import { Button } from '../components/controls.tsx'
import { Field, Form } from '../components/form.tsx'
import { Notice } from '../components/messages.tsx'
import { usePage } from '../layout/page-context.ts'

const account = { access: 'account' } as const

/** Where the first operator of a public server enters the set-up secret. */
export const setupRoutes = [
  route('get', '/setup', account, (visit) => visit.page(<SetupPage />, { title: 'Set up', hidden: true })),

  route('post', '/setup', account, async (visit) => {
    const setup_secret = visit.form.get('setup_secret').trim()
    const failure = await attempt(() => visit.api.PUT('/v1/account/operator', { body: { setup_secret } }))
    if (failure === null) return visit.redirect('/operator')
    return visit.page(<SetupPage failure={failure} />, {
      title: 'Set up',
      // The session is valid even if the secret is wrong.
      status: failure.status === 401 || failure.status === 403 ? 422 : failure.status,
      hidden: true,
    })
  }),
]

function SetupPage({ failure = null }: { failure?: FormFailure | null }) {
  const { account: own } = usePage()
  return (
    <div class="sign-in">
      <h1>Set up this server</h1>
      {own?.operator ? (
        <Notice kind="success">You are an operator of this server.</Notice>
      ) : (
        <>
          <p class="lead">
            The server prints a set-up secret when it starts without an operator. The secret makes {own?.username} the
            operator, and works once.
          </p>
          <Form action="/setup" failure={failure} fields={['setup_secret']}>
            <Field
              label="Set-up secret"
              name="setup_secret"
              type="password"
              autocomplete="off"
              maxlength={400}
              required
              failure={failure}
            />
            <Button look="primary">Become operator</Button>
          </Form>
        </>
      )}
    </div>
  )
}
