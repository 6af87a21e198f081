import { formatAmount, type SpendCap } from '@agentgym/contract'
import { attempt, type FormFailure, type FormValues, formAmountOrZero, invalidField } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { Button } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { EmptyState } from '../../components/messages.tsx'
import { Table } from '../../components/table.tsx'
import { usePage } from '../../layout/page-context.ts'
import { accountField } from '../../session/accounts.ts'
import { accountAddress, MarketFrame } from './market-frame.tsx'

const path = '/settings/spending'

export const spendingRoutes = [
  route('get', path, { access: 'account' }, (visit) => spendingPage(visit, visit.query.get('account') ?? '')),

  route('post', path, { access: 'account' }, async (visit) => {
    const { form } = visit
    const account = form.get('account')
    const failure = await attempt(() => visit.api.PUT('/v1/spend-caps', { body: capRequest(visit) }))
    return failure === null ? visit.redirect(accountAddress(path, account)) : spendingPage(visit, account, failure)
  }),

  route('post', `${path}/:id/remove`, { access: 'account' }, async (visit) => {
    const account = visit.form.get('account')
    const params = { path: { id: visit.params.id } }
    const failure = await attempt(() => visit.api.DELETE('/v1/spend-caps/{id}', { params }))
    return failure === null ? visit.redirect(accountAddress(path, account)) : spendingPage(visit, account, failure)
  }),
]

/** A limit of 0 is valid, and blocks all spending; an empty field is not. */
function capRequest({ form, host }: Visit) {
  const period = form.get('period')
  if (period !== 'day' && period !== 'month' && period !== 'total' && period !== 'calls')
    throw invalidField('period', 'choose one of the options')
  if (form.get('amount_minor').trim() === '') throw invalidField('amount_minor', 'enter an amount')
  const token = form.get('token_id')
  return {
    period,
    amount_minor: formAmountOrZero(form, 'amount_minor', host.currency),
    token_id: token === '' ? undefined : token,
    account: accountField(form.get('account')),
  } as const
}

async function spendingPage(visit: Visit, account: string, failure: FormFailure | null = null): Promise<Response> {
  const { api, form } = visit
  const own = account === '' || account === visit.account?.username
  const [{ caps }, tokens] = await Promise.all([capsOf(visit, account), own ? api.GET('/v1/tokens') : null])
  const page = (
    <SpendingPage caps={caps} tokens={tokens?.data.tokens ?? []} account={account} values={form} failure={failure} />
  )
  return visit.page(page, { title: 'Spending limits', hidden: true, status: failure?.status })
}

async function capsOf({ api }: Visit, account: string): Promise<{ caps: SpendCap[] }> {
  const { data } = await api.GET('/v1/spend-caps', { params: { query: { account: accountField(account) } } })
  return data
}

type SpendingPageProps = {
  caps: SpendCap[]
  /** The visitor's own tokens; empty for organizations, which have none. */
  tokens: { id: string; name: string }[]
  account: string
  values: FormValues
  failure?: FormFailure | null
}

const periods = { day: 'per day', month: 'per month', total: 'in total', calls: 'per 1,000 calls' }

/** Spending limits of an account and its tokens. */
function SpendingPage({ caps, tokens, account, values, failure = null }: SpendingPageProps) {
  const { host } = usePage()
  return (
    <MarketFrame
      title="Spending limits"
      path="/settings/spending"
      account={account}
      needs="member"
      lead="Purchases and calls beyond a limit are refused. Days and months are in UTC; refunds don't lower the amount spent."
    >
      {caps.length === 0 ? (
        <EmptyState title="No spending limits" command="agentgym spend-cap set 50 --period month">
          Spending is limited only by the balance.
        </EmptyState>
      ) : (
        <Caps caps={caps} account={account} />
      )}
      <section class="market-part">
        <h2>Set limit</h2>
        <Form action="/settings/spending" failure={failure} fields={['token_id', 'period', 'amount_minor']}>
          <input type="hidden" name="account" value={account} />
          {tokens.length > 0 && (
            <Field
              label="Applies to"
              name="token_id"
              value={values.get('token_id')}
              failure={failure}
              options={[
                { value: '', label: 'Entire account' },
                ...tokens.map(({ id, name }) => ({ value: id, label: `Token ${name}` })),
              ]}
              required
            />
          )}
          <Field
            label={`Limit (${host.currency})`}
            name="amount_minor"
            value={values.get('amount_minor')}
            failure={failure}
            maxlength={24}
            required
          />
          <Field
            label="Period"
            name="period"
            value={values.get('period') || 'month'}
            failure={failure}
            options={[
              { value: 'day', label: 'Day' },
              { value: 'month', label: 'Month' },
              { value: 'total', label: 'All time' },
              { value: 'calls', label: 'Price of 1,000 hosted calls' },
            ]}
            help="Replaces an existing limit for the same period."
            required
          />
          <p>
            <Button look="primary">Set limit</Button>
          </p>
        </Form>
      </section>
    </MarketFrame>
  )
}

function Caps({ caps, account }: { caps: SpendCap[]; account: string }) {
  return (
    <Table
      caption="Spending limits"
      rows={caps}
      columns={[
        {
          title: 'Applies to',
          heading: true,
          cell: ({ token }) => (token === null ? 'Entire account' : `Token ${token.name}`),
        },
        {
          title: 'Limit',
          cell: ({ amount_minor: most, spent_minor: spent, period, currency }) => (
            <>
              {formatAmount(most, currency)} {periods[period]}
              {period !== 'calls' && <span class="bill-note">{formatAmount(spent, currency)} spent</span>}
            </>
          ),
        },
        {
          title: 'Remove',
          cell: ({ id, token, period }) => (
            <Form
              action={`/settings/spending/${id}/remove`}
              look="inline"
              label={`Remove the limit ${periods[period]} for ${token === null ? 'the account' : token.name}`}
            >
              <input type="hidden" name="account" value={account} />
              <Button size="small">Remove</Button>
            </Form>
          ),
        },
      ]}
    />
  )
}
