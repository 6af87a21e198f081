import {
  formatAmount,
  type SpendCap,
  type TokenScope,
  tokenScopes,
  type WorkKind,
  workKindSchema,
} from '@agentgym/contract'
import { attempt, type FormFailure, invalidField, optionalFormAmount } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { Button, Command } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { EmptyState, Notice } from '../../components/messages.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import { usePage } from '../../layout/page-context.ts'
import { SettingsFrame } from './settings-frame.tsx'

const account = { access: 'account' } as const

export const tokenRoutes = [
  route('get', '/settings/tokens', account, (visit) => showTokens(visit, {})),

  route('post', '/settings/tokens', account, async (visit) => {
    const { form } = visit
    const values: TokenValues = {
      name: form.get('name').trim(),
      days: form.get('expires_in_days').trim(),
      scopes: form.all('scopes'),
      cap: form.get('amount_minor').trim(),
      period: form.get('period'),
      kinds: form.all('worker_kinds'),
      worker: form.get('worker_name').trim(),
    }
    let made = { name: '', token: '' }
    const failure = await attempt(async () => {
      const cap = optionalFormAmount(form, 'amount_minor', visit.host.currency) ?? null
      if (values.scopes.length === 0) throw invalidField('scopes', 'select at least one scope')
      made = await makeToken(visit, values, cap)
    })
    // No redirect: the token must not appear in a URL and is shown only once.
    return showTokens(visit, failure === null ? { made } : { values, failure })
  }),

  route('post', '/settings/tokens/revoke', account, async (visit) => {
    const id = visit.form.get('id')
    const failure = await attempt(() => visit.api.DELETE('/v1/tokens/{id}', { params: { path: { id } } }))
    return failure === null || failure.status === 404
      ? visit.redirect('/settings/tokens')
      : showTokens(visit, { failure })
  }),
]

/** Creates a token with its spending limit. If the limit cannot be set, the token is revoked. */
async function makeToken({ api }: Visit, values: TokenValues, capMinor: number | null) {
  const scopes = values.scopes as TokenScope[]
  const worker = { kinds: values.kinds as WorkKind[], name: values.worker }
  const bound = {
    ...(worker.kinds.length === 0 ? {} : { kinds: worker.kinds }),
    ...(worker.name === '' ? {} : { name: worker.name }),
  }
  const body = {
    ...{ name: values.name, scopes, expires_in_days: Number(values.days) },
    ...(Object.keys(bound).length === 0 ? {} : { worker: bound }),
  }
  const { data } = await api.POST('/v1/tokens', { body })
  const { id, name, token } = data
  if (capMinor === null) return { name, token }
  try {
    const period = values.period as SpendCap['period']
    await api.PUT('/v1/spend-caps', { body: { token_id: id, period, amount_minor: capMinor } })
  } catch (error) {
    await api.DELETE('/v1/tokens/{id}', { params: { path: { id } } })
    throw error
  }
  return { name, token }
}

type Shown = { values?: TokenValues; failure?: FormFailure | null; made?: { name: string; token: string } | null }

async function showTokens(visit: Visit, { values, failure = null, made = null }: Shown): Promise<Response> {
  const [tokens, caps] = await Promise.all([visit.api.GET('/v1/tokens'), visit.api.GET('/v1/spend-caps')])
  return visit.page(
    <TokensPage tokens={tokens.data.tokens} caps={caps.data.caps} values={values} failure={failure} made={made} />,
    { title: 'Tokens', status: failure?.status, hidden: true },
  )
}

type ListedToken = {
  id: string
  name: string
  prefix: string
  scopes: TokenScope[]
  parent_id: string | null
  worker: { kinds: WorkKind[] | null; name: string | null } | null
  expires_at: string | null
  last_used_at: string | null
}

type TokenValues = {
  name: string
  days: string
  scopes: string[]
  cap: string
  period: string
  kinds: string[]
  worker: string
}

type TokensPageProps = {
  tokens: ListedToken[]
  caps: SpendCap[]
  values?: TokenValues
  failure?: FormFailure | null
  /** Shown only once. */
  made?: { name: string; token: string } | null
}

const nothingTyped: TokenValues = { name: '', days: '90', scopes: [], cap: '', period: 'month', kinds: [], worker: '' }

/** Access tokens, and the form that creates one. */
function TokensPage({ tokens, caps, values = nothingTyped, failure = null, made = null }: TokensPageProps) {
  return (
    <SettingsFrame>
      {made !== null && (
        <section aria-labelledby="made">
          <h2 id="made">Token {made.name}</h2>
          <Notice kind="success">Copy the token now. It won't be shown again.</Notice>
          <Command text={made.token} label="Copy token" />
        </section>
      )}
      <section aria-labelledby="tokens">
        <h2 id="tokens">Tokens</h2>
        {tokens.length === 0 ? (
          <EmptyState title="No tokens yet" command="agentgym login">
            <p>Tokens let scripts, CI and workers act as you. The CLI creates its own at login.</p>
          </EmptyState>
        ) : (
          <TokenTable tokens={tokens} caps={caps} />
        )}
      </section>
      <section aria-labelledby="new-token">
        <h2 id="new-token">Create token</h2>
        <NewToken values={values} failure={failure} />
      </section>
    </SettingsFrame>
  )
}

function TokenTable({ tokens, caps }: Pick<TokensPageProps, 'tokens' | 'caps'>) {
  const creator = (id: string) => tokens.find((token) => token.id === id)?.name ?? 'another token'
  const capsOf = (id: string) => caps.filter(({ token }) => token?.id === id)
  return (
    <Table
      caption="Your tokens"
      rows={tokens}
      columns={[
        {
          title: 'Token',
          heading: true,
          cell: ({ name, prefix, scopes, worker, parent_id }) => (
            <span class="run-name">
              {name}
              <span class="run-name-id">{prefix}…</span>
              <span class="run-name-id token-scopes">{scopes.join(', ')}</span>
              {worker !== null && <span class="run-name-id token-scopes">{boundWords(worker)}</span>}
              {parent_id !== null && <span class="run-name-id token-scopes">created by {creator(parent_id)}</span>}
            </span>
          ),
        },
        {
          title: 'Spending limit',
          cell: ({ id }) =>
            capsOf(id)
              .map((cap) => `${formatAmount(cap.amount_minor, cap.currency)} ${periodWords[cap.period]}`)
              .join(', ') || '–',
          wide: true,
        },
        {
          title: 'Last used',
          cell: ({ last_used_at }) => (last_used_at === null ? 'Never' : <Time at={last_used_at} />),
          wide: true,
        },
        {
          title: 'Expires',
          cell: ({ expires_at }) => <span class="nowrap">{expires_at?.slice(0, 10) ?? 'Never'}</span>,
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

function boundWords({ kinds, name }: NonNullable<ListedToken['worker']>): string {
  const only = kinds === null ? [] : [`only ${kinds.join(', ')}`]
  return [...only, ...(name === null ? [] : [`only worker ${name}`])].join(', ')
}

const periodWords: Record<SpendCap['period'], string> = {
  day: 'per day',
  month: 'per month',
  total: 'in total',
  calls: 'per 1,000 calls',
}

function NewToken({ values, failure }: { values: TokenValues; failure: FormFailure | null }) {
  const { host, account } = usePage()
  return (
    <Form
      action="/settings/tokens"
      failure={failure}
      fields={['name', 'expires_in_days', 'scopes', 'amount_minor', 'period', 'worker']}
    >
      <Field
        label="Name"
        name="name"
        required
        maxlength={80}
        value={values.name}
        help="For example, where the token is used."
        failure={failure}
      />
      <fieldset class="scope-boxes">
        <legend>Scopes</legend>
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
        label="Expires after (days)"
        name="expires_in_days"
        type="number"
        min="1"
        max="366"
        required
        value={values.days}
        failure={failure}
      />
      <Field
        label={`Spending limit (${host.currency})`}
        name="amount_minor"
        value={values.cap}
        help="Default: the account's limits."
        failure={failure}
      />
      <Field
        label="Limit period"
        name="period"
        required
        value={values.period}
        options={[
          { value: 'day', label: 'Day' },
          { value: 'month', label: 'Month' },
          { value: 'total', label: 'Lifetime of the token' },
        ]}
        failure={failure}
      />
      {account?.operator && <WorkerFields values={values} failure={failure} />}
      <Button look="primary">Create token</Button>
    </Form>
  )
}

/** For tokens with the scope `worker`. */
function WorkerFields({ values, failure }: { values: TokenValues; failure: FormFailure | null }) {
  return (
    <fieldset class="scope-boxes">
      <legend>Worker tokens: limit to</legend>
      {workKindSchema.options.map((kind) => (
        <label>
          <input type="checkbox" name="worker_kinds" value={kind} checked={values.kinds.includes(kind)} />
          <span>
            <code>{kind}</code>
            <span class="dim">{kindWords[kind]}</span>
          </span>
        </label>
      ))}
      <Field
        label="Worker name"
        name="worker_name"
        maxlength={80}
        value={values.worker}
        help="The name that the worker starts with (--name). Leave empty for any worker."
        failure={failure}
      />
      {failure?.fields.worker !== undefined && <p class="field-message">{failure.fields.worker}</p>}
    </fieldset>
  )
}

const kindWords: Record<WorkKind, string> = {
  replay: 'Replay episodes that people keep',
  check: 'Check uploaded scenarios',
  evaluate: 'Evaluate agents',
  train: 'Train agents',
  call: 'Answer calls of hosted agents',
}
