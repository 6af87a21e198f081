import { formatAmount, type SpendCap, type TokenScope, tokenScopes } from '@agentgym/contract'
import type { FormFailure } from '../../app/form-failure.ts'
import { Button } from '../../components/button.tsx'
import { Command } from '../../components/command.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { Notice } from '../../components/notice.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { usePage } from '../../layout/page-context.ts'
import { SettingsFrame } from './settings-frame.tsx'

export type ListedToken = {
  id: string
  name: string
  prefix: string
  scopes: TokenScope[]
  expires_at: string | null
  last_used_at: string | null
}

export type TokenValues = { name: string; days: string; scopes: string[]; cap: string; period: string }

type TokensPageProps = {
  tokens: ListedToken[]
  caps: SpendCap[]
  values?: TokenValues
  failure?: FormFailure | null
  /** The only time that it is shown. */
  made?: { name: string; token: string } | null
}

const nothingTyped: TokenValues = { name: '', days: '90', scopes: [], cap: '', period: 'month' }

/** Tokens for programs: what there is, and one more. */
export function TokensPage({ tokens, caps, values = nothingTyped, failure = null, made = null }: TokensPageProps) {
  return (
    <SettingsFrame>
      {made !== null && (
        <section aria-labelledby="made">
          <h2 id="made">The token {made.name}</h2>
          <Notice kind="success">Copy it now: it is shown this once, and stored nowhere as it is.</Notice>
          <Command text={made.token} label="Copy the token" />
        </section>
      )}
      <section aria-labelledby="tokens">
        <h2 id="tokens">Tokens</h2>
        {tokens.length === 0 ? (
          <EmptyState title="Tokens let programs and workers act as you" command="agentgym login">
            <p>The command line makes its own when you log in. For anything else, make one below.</p>
          </EmptyState>
        ) : (
          <TokenTable tokens={tokens} caps={caps} />
        )}
      </section>
      <section aria-labelledby="new-token">
        <h2 id="new-token">Make a token</h2>
        <NewToken values={values} failure={failure} />
      </section>
    </SettingsFrame>
  )
}

function TokenTable({ tokens, caps }: Pick<TokensPageProps, 'tokens' | 'caps'>) {
  const { host } = usePage()
  const capsOf = (id: string) => caps.filter(({ token }) => token?.id === id)
  return (
    <Table
      caption="Tokens and what they may do"
      rows={tokens}
      columns={[
        {
          title: 'Token',
          heading: true,
          cell: ({ name, prefix, scopes }) => (
            <span class="run-name">
              {name}
              <span class="run-name-id">{prefix}…</span>
              <span class="run-name-id token-scopes">{scopes.join(', ')}</span>
            </span>
          ),
        },
        {
          title: 'May spend',
          cell: ({ id }) =>
            capsOf(id)
              .map((cap) => `${formatAmount(cap.amount_minor, host.currency)} ${periodWords[cap.period]}`)
              .join(', ') || '–',
          wide: true,
        },
        {
          title: 'Last used',
          cell: ({ last_used_at }) => (last_used_at === null ? 'never' : <Time at={last_used_at} />),
          wide: true,
        },
        {
          title: 'Until',
          cell: ({ expires_at }) => <span class="nowrap">{expires_at?.slice(0, 10) ?? 'for good'}</span>,
          wide: true,
        },
        {
          title: 'Action',
          cell: ({ id, name, prefix }) => (
            <Form action="/settings/tokens/revoke" look="inline" label={`Token ${name}, ${prefix}`}>
              <Button size="small" look="danger" name="id" value={id}>
                Revoke
              </Button>
            </Form>
          ),
        },
      ]}
    />
  )
}

const periodWords: Record<SpendCap['period'], string> = { day: 'a day', month: 'a month', total: 'in all' }

function NewToken({ values, failure }: { values: TokenValues; failure: FormFailure | null }) {
  const { host, account } = usePage()
  return (
    <Form
      action="/settings/tokens"
      failure={failure}
      fields={['name', 'expires_in_days', 'scopes', 'amount_minor', 'period']}
    >
      <Field
        label="Name"
        name="name"
        required
        maxlength={80}
        value={values.name}
        help="Where it is used."
        failure={failure}
      />
      <fieldset class="scope-boxes">
        <legend>What it may do</legend>
        {Object.entries(tokenScopes)
          .filter(([scope]) => scope !== 'worker' || account?.operator)
          .map(([scope, meaning]) => (
            <label>
              <input type="checkbox" name="scopes" value={scope} checked={values.scopes.includes(scope)} />
              <span>
                <code>{scope}</code>
                <span class="dim">{meaning}</span>
              </span>
            </label>
          ))}
        {failure?.fields.scopes !== undefined && <p class="field-message">{failure.fields.scopes}</p>}
      </fieldset>
      <Field
        label="Days that it lasts"
        name="expires_in_days"
        type="number"
        min="1"
        max="366"
        required
        value={values.days}
        failure={failure}
      />
      <Field
        label={`Most that it may spend, in ${host.currency}`}
        name="amount_minor"
        value={values.cap}
        help="Left empty, as much as the account."
        failure={failure}
      />
      <Field
        label="Within"
        name="period"
        required
        value={values.period}
        options={[
          { value: 'day', label: 'a day' },
          { value: 'month', label: 'a month' },
          { value: 'total', label: 'its whole life' },
        ]}
        failure={failure}
      />
      <Button look="primary">Make the token</Button>
    </Form>
  )
}
