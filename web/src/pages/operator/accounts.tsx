import type { AccountList } from '@agentgym/contract'
import { attempt, type FormFailure } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { EmptyState, Notice } from '../../components/messages.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import { withHint } from '../../format.ts'
import { usePage } from '../../layout/page-context.ts'
import { OperatorFrame } from './status.tsx'

const operator = { access: 'operator' } as const

export const operatorAccountRoutes = [
  route('get', '/operator/accounts', operator, (visit) => showAccounts(visit)),

  route('post', '/operator/accounts', operator, async (visit) => {
    const { api, form } = visit
    const params = { path: { username: form.get('username') || '-' } }
    const acts: Record<string, () => Promise<unknown>> = {
      disable: () =>
        api.PUT('/v1/accounts/{username}/disabled', { params, body: { reason: form.get('reason').trim() } }),
      enable: () => api.DELETE('/v1/accounts/{username}/disabled', { params }),
      sign_out: () => api.POST('/v1/accounts/{username}/sign-out', { params, body: {} }),
      reset_factor: () => api.DELETE('/v1/accounts/{username}/second-factor', { params }),
      add: () => api.PUT('/v1/accounts/{username}/operator', { params }),
      remove: () => api.DELETE('/v1/accounts/{username}/operator', { params }),
    }
    const act = form.get('act')
    const failure = await attempt(async () => acts[act]?.())
    const own = params.path.username === visit.account?.username
    if (failure === null && own && ['sign_out', 'disable', 'reset_factor'].includes(act))
      return visit.redirect('/login')
    if (failure === null) return visit.redirect(`/operator/accounts?${new URLSearchParams({ done: act })}`)
    return showAccounts(visit, failure)
  }),
]

async function showAccounts(visit: Visit, failure: FormFailure | null = null): Promise<Response> {
  const q = visit.query.get('q')?.trim() || undefined
  const after = visit.query.get('after') || undefined
  const { data } = await visit.api.GET('/v1/accounts', { params: { query: { q, after, limit: 50 } } })
  const act = visit.form.get('act')
  const disable = act === 'disable' ? visit.form.get('username') : (visit.query.get('disable') ?? '').slice(0, 100)
  return visit.page(
    <AccountsPage list={data} q={q ?? ''} failure={failure} done={visit.query.get('done')} disable={disable} />,
    { title: 'Accounts', status: failure?.status === 403 ? 422 : failure?.status, hidden: true },
  )
}

const doneWords: Record<string, string> = {
  disable: 'Account disabled. Its sessions have ended.',
  enable: 'Account enabled.',
  sign_out: 'Signed out everywhere. Its tokens are revoked.',
  reset_factor: 'Second factor removed. The sessions of the account have ended.',
  add: 'Operator added.',
  remove: 'Operator removed.',
}

type Listed = AccountList['accounts'][number]
type AccountsPageProps = {
  list: AccountList
  q: string
  failure: FormFailure | null
  done: string | null
  /** The account to disable, for which a reason is requested; empty for none. */
  disable: string
}

/** Accounts of the server, and what an operator can do to them. */
function AccountsPage({ list, q, failure, done, disable }: AccountsPageProps) {
  const message = done === null ? undefined : doneWords[done]
  const next = new URLSearchParams({ ...(q === '' ? {} : { q }), after: list.next_after ?? '' })
  return (
    <OperatorFrame>
      {message !== undefined && <Notice kind="success">{message}</Notice>}
      {failure !== null && disable === '' && (
        <Notice kind="failure">
          {withHint({ message: failure.message ?? Object.values(failure.fields).join(' '), hint: failure.hint })}
        </Notice>
      )}
      {disable !== '' && (
        <section aria-labelledby="disable">
          <h2 id="disable">Disable {disable}</h2>
          <p>
            The user can't log in, sessions end and tokens stop working until you enable the account. Packages, orders
            and balances are unchanged.
          </p>
          <Form action="/operator/accounts" failure={failure} fields={['reason']}>
            <input type="hidden" name="username" value={disable} />
            <Field
              label="Reason"
              name="reason"
              required
              maxlength={400}
              help="Recorded in the audit log. Not shown to the user."
              failure={failure}
            />
            <Button look="danger" name="act" value="disable">
              Disable account
            </Button>
          </Form>
        </section>
      )}
      <section aria-labelledby="accounts">
        <h2 id="accounts">Accounts</h2>
        <form method="get" action="/operator/accounts" class="settings-row" aria-label="Search accounts">
          <Field label="Username or email" name="q" value={q} maxlength={100} />
          <Button>Search</Button>
        </form>
        {list.accounts.length === 0 ? (
          <EmptyState title="No matching accounts">
            <p>Try a shorter text.</p>
          </EmptyState>
        ) : (
          <AccountTable accounts={list.accounts} />
        )}
        {list.next_after !== null && <a href={`/operator/accounts?${next}`}>Next page</a>}
      </section>
    </OperatorFrame>
  )
}

function AccountTable({ accounts }: { accounts: Listed[] }) {
  return (
    <Table
      caption="Accounts, their state and what you can do"
      rows={accounts}
      columns={[
        {
          title: 'Account',
          heading: true,
          cell: ({ username, email, email_verified }) => (
            <span class="run-name">
              <a href={`/@${username}`}>{username}</a>
              {email !== null && (
                <span class="run-name-id">
                  {email}
                  {email_verified ? '' : ' (not confirmed)'}
                </span>
              )}
            </span>
          ),
        },
        {
          title: 'State',
          cell: ({ kind, operator: isOperator, disabled }) => (
            <span class="settings-row">
              {kind === 'organisation' && <Badge>organization</Badge>}
              {isOperator && <Badge>operator</Badge>}
              {disabled !== null && <Badge tone="warning">disabled: {disabled.reason}</Badge>}
            </span>
          ),
        },
        { title: 'Created', cell: ({ created_at }) => <Time at={created_at} />, wide: true },
        { title: 'Action', cell: (account) => account.kind === 'user' && <Actions account={account} /> },
      ]}
    />
  )
}

function Actions({ account: { username, operator: isOperator, disabled, second_factor } }: { account: Listed }) {
  const { account } = usePage()
  const button = (act: string, text: string) => (
    <Button size="small" name="act" value={act}>
      {text}
    </Button>
  )
  return (
    <Form action="/operator/accounts" look="inline" label={`Account ${username}`}>
      <input type="hidden" name="username" value={username} />
      {disabled === null ? (
        <>
          <Button size="small" look="danger" href={`/operator/accounts?disable=${username}`}>
            Disable
          </Button>
          {button('sign_out', 'Sign out')}
          {second_factor && button('reset_factor', 'Reset second factor')}
          {isOperator
            ? button('remove', username === account?.username ? 'Resign as operator' : 'Remove operator')
            : button('add', 'Make operator')}
        </>
      ) : (
        button('enable', 'Enable')
      )}
    </Form>
  )
}
