import { formatAmount, type SpendCap } from '@agentgym/contract'
import type { FormFailure } from '../../app/form-failure.ts'
import type { FormValues } from '../../app/form-values.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { Table } from '../../components/table.tsx'
import { usePage } from '../../layout/page-context.ts'
import { MarketFrame } from './market-frame.tsx'

type SpendingPageProps = {
  caps: SpendCap[]
  /** The visitor's own, that limits can be put on; none for an organisation, which has none. */
  tokens: { id: string; name: string }[]
  account: string
  values: FormValues
  failure?: FormFailure | null
}

const periods = { day: 'a day', month: 'a month', total: 'in all' }

/** What an account, and each of its tokens, may spend. */
export function SpendingPage({ caps, tokens, account, values, failure = null }: SpendingPageProps) {
  const { host } = usePage()
  return (
    <MarketFrame
      title="Spend limits"
      path="/settings/spending"
      account={account}
      needs="member"
      lead="What is bought and called beyond them is refused. Days and months are those of UTC; refunds are not counted back."
    >
      {caps.length === 0 ? (
        <EmptyState title="No limits" command="agentgym spend-cap set 50 --period month">
          Only the balance limits what is spent.
        </EmptyState>
      ) : (
        <Caps caps={caps} account={account} currency={host.currency} />
      )}
      <section class="market-part">
        <h2>Set a limit</h2>
        <Form action="/settings/spending" failure={failure} fields={['token_id', 'period', 'amount_minor']}>
          <input type="hidden" name="account" value={account} />
          {tokens.length > 0 && (
            <Field
              label="Of"
              name="token_id"
              value={values.get('token_id')}
              failure={failure}
              options={[
                { value: '', label: 'The whole account' },
                ...tokens.map(({ id, name }) => ({ value: id, label: `Token ${name}` })),
              ]}
              required
            />
          )}
          <Field
            label={`At most, in ${host.currency}`}
            name="amount_minor"
            value={values.get('amount_minor')}
            failure={failure}
            maxlength={24}
            required
          />
          <Field
            label="Within"
            name="period"
            value={values.get('period') || 'month'}
            failure={failure}
            options={[
              { value: 'day', label: 'A day' },
              { value: 'month', label: 'A month' },
              { value: 'total', label: 'All time' },
            ]}
            help="Another limit of the same kind gives way to it."
            required
          />
          <p>
            <Button look="primary">Set the limit</Button>
          </p>
        </Form>
      </section>
    </MarketFrame>
  )
}

function Caps({ caps, account, currency }: { caps: SpendCap[]; account: string; currency: string }) {
  return (
    <Table
      caption="Spend limits"
      rows={caps}
      columns={[
        {
          title: 'Of',
          heading: true,
          cell: ({ token }) => (token === null ? 'The whole account' : `Token ${token.name}`),
        },
        {
          title: 'Limit',
          cell: ({ amount_minor: most, spent_minor: spent, period }) => (
            <>
              {formatAmount(most, currency)} {periods[period]}
              <span class="bill-note">{formatAmount(spent, currency)} spent</span>
            </>
          ),
        },
        {
          title: 'Remove',
          cell: ({ id, token, period }) => (
            <Form
              action={`/settings/spending/${id}/remove`}
              look="inline"
              label={`Remove the limit ${periods[period]} of ${token === null ? 'the account' : token.name}`}
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
