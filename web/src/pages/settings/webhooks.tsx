import { type EventType, eventTypeSchema, type Webhook, type WebhookDelivery } from '@agentgym/contract'
import { attempt, type FormFailure } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { Badge } from '../../components/badge.tsx'
import { Button, Command } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { Icon } from '../../components/icon.tsx'
import { EmptyState, Notice } from '../../components/messages.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import { usePage } from '../../layout/page-context.ts'
import { accountField, accountsOf } from '../../session/accounts.ts'
import { SettingsFrame } from './settings-frame.tsx'

const account = { access: 'account' } as const

export const webhookRoutes = [
  route('get', '/settings/webhooks', account, (visit) => showWebhooks(visit, {})),

  route('post', '/settings/webhooks', account, async (visit) => {
    const { api, form } = visit
    const values: WebhookValues = {
      url: form.get('url').trim(),
      description: form.get('description').trim(),
      types: form.all('types'),
    }
    const types = values.types.length === 0 ? null : (values.types as EventType[])
    let secret = ''
    const failure = await attempt(
      async () => {
        const body = { ...values, types, account: accountField(form.get('account')) }
        secret = (await api.POST('/v1/webhooks', { body })).data.secret
      },
      { address_refused: 'url' },
    )
    // No redirect: the secret is shown only once.
    return showWebhooks(visit, failure === null ? { secret } : { values, failure })
  }),

  route('get', '/settings/webhooks/:id', account, (visit) => showWebhook(visit, {})),

  route('post', '/settings/webhooks/:id', account, async (visit) => {
    const { api, form, params } = visit
    const path = { params: { path: { id: params.id } } }
    const act = form.get('act')
    let secret: string | undefined
    const failure = await attempt(async () => {
      if (act === 'rotate') secret = (await api.POST('/v1/webhooks/{id}/secret', path)).data.secret
      else if (act === 'test') await api.POST('/v1/webhooks/{id}/test', path)
      else if (act === 'delete') await api.DELETE('/v1/webhooks/{id}', path)
      else if (act === 'enable' || act === 'disable')
        await api.PUT('/v1/webhooks/{id}', { ...path, body: { enabled: act === 'enable' } })
    })
    if (failure !== null || secret !== undefined) return showWebhook(visit, { failure, secret })
    return visit.redirect(act === 'delete' ? '/settings/webhooks' : `/settings/webhooks/${params.id}`)
  }),

  route('post', '/settings/webhooks/:id/resend', account, async (visit) => {
    const { id } = visit.params
    const delivery = visit.form.get('delivery')
    const failure = await attempt(() =>
      visit.api.POST('/v1/webhooks/{id}/deliveries/{delivery}/resend', { params: { path: { id, delivery } } }),
    )
    return failure === null ? visit.redirect(`/settings/webhooks/${id}`) : showWebhook(visit, { failure })
  }),
]

type WebhookValues = { url: string; description: string; types: string[] }
type Shown = { values?: WebhookValues; failure?: FormFailure | null; secret?: string }

async function showWebhooks(visit: Visit, shown: Shown): Promise<Response> {
  const chosen = visit.form.get('account') || (visit.query.get('account') ?? '')
  const query = { account: accountField(chosen) }
  const { data } = await visit.api.GET('/v1/webhooks', { params: { query } })
  return visit.page(<WebhooksPage webhooks={data.webhooks} chosen={chosen} {...shown} />, {
    title: 'Webhooks',
    status: shown.failure?.status,
    hidden: true,
  })
}

async function showWebhook(visit: Visit, { failure = null, secret }: Omit<Shown, 'values'>): Promise<Response> {
  const { id } = visit.params
  const cursor = visit.query.get('cursor') ?? undefined
  const params = { path: { id }, query: { limit: 20, cursor } }
  const deliveries = await visit.api.GET('/v1/webhooks/{id}/deliveries', { params })
  const { data } = await visit.api.GET('/v1/webhooks/{id}', { params: { path: { id } } })
  return visit.page(
    <WebhookPage
      webhook={data}
      deliveries={deliveries.data.deliveries}
      next={deliveries.data.next_cursor}
      failure={failure}
      secret={secret}
    />,
    { title: 'Webhook', status: failure?.status, hidden: true },
  )
}

/** The secret, right after it was made. */
function Secret({ secret }: { secret: string }) {
  return (
    <section aria-labelledby="secret">
      <h2 id="secret">Signing secret</h2>
      <Notice kind="success">Copy the secret now. It won't be shown again.</Notice>
      <Command text={secret} label="Copy secret" />
    </section>
  )
}

type WebhooksPageProps = Shown & { webhooks: Webhook[]; chosen: string }

const nothingTyped: WebhookValues = { url: '', description: '', types: [] }

/** Webhooks of an account, and the form that creates one. */
function WebhooksPage({ webhooks, chosen, values = nothingTyped, failure = null, secret }: WebhooksPageProps) {
  return (
    <SettingsFrame>
      {secret !== undefined && <Secret secret={secret} />}
      <section aria-labelledby="webhooks">
        <h2 id="webhooks">Webhooks</h2>
        <AccountLinks chosen={chosen} />
        {webhooks.length === 0 ? (
          <EmptyState title="No webhooks yet">
            <p>A webhook posts signed messages to your server when runs end, agents are verified or sold, and more.</p>
          </EmptyState>
        ) : (
          <WebhookTable webhooks={webhooks} />
        )}
      </section>
      <section aria-labelledby="new-webhook">
        <h2 id="new-webhook">Create webhook</h2>
        <Form action="/settings/webhooks" failure={failure} fields={['url', 'description', 'types']}>
          <input type="hidden" name="account" value={chosen} />
          <Field
            label="URL"
            name="url"
            type="url"
            required
            maxlength={2_000}
            value={values.url}
            help="A public https address."
            failure={failure}
          />
          <Field label="Description" name="description" maxlength={200} value={values.description} failure={failure} />
          <details class="webhook-types" open={values.types.length > 0}>
            <summary>
              <Icon name="chevron-right" size={14} />
              Event types <span class="dim">(default: all)</span>
            </summary>
            <fieldset class="scope-boxes">
              <legend class="visually-hidden">Event types</legend>
              {eventTypeSchema.options
                .filter((type) => type !== 'webhook.test')
                .map((type) => (
                  <label>
                    <input type="checkbox" name="types" value={type} checked={values.types.includes(type)} />
                    <code>{type}</code>
                  </label>
                ))}
            </fieldset>
          </details>
          <Button look="primary">Create webhook</Button>
        </Form>
      </section>
    </SettingsFrame>
  )
}

/** Organizations that the user manages have webhooks of their own. */
function AccountLinks({ chosen }: { chosen: string }) {
  const { account } = usePage()
  if (account === null) return null
  const [own, ...organizations] = accountsOf(account, 'admin')
  if (organizations.length === 0) return null
  return (
    <nav class="settings-row" aria-label="Account">
      {[own, ...organizations].map((name) => (
        <a
          href={name === own ? '/settings/webhooks' : `/settings/webhooks?account=${name}`}
          aria-current={(chosen || own) === name ? 'page' : undefined}
        >
          {name}
        </a>
      ))}
    </nav>
  )
}

function WebhookTable({ webhooks }: { webhooks: Webhook[] }) {
  return (
    <Table
      caption="Webhooks of the account"
      rows={webhooks}
      columns={[
        {
          title: 'URL',
          heading: true,
          cell: ({ id, url, description }) => (
            <span class="run-name">
              <a class="audit-subject" href={`/settings/webhooks/${id}`}>
                {url}
              </a>
              {description !== '' && <span class="run-name-id">{description}</span>}
            </span>
          ),
        },
        { title: 'State', cell: (webhook) => <WebhookState webhook={webhook} /> },
        { title: 'Types', cell: ({ types }) => (types === null ? 'All' : types.length), wide: true },
        { title: 'Created', cell: ({ created_at }) => <Time at={created_at} />, wide: true },
      ]}
    />
  )
}

function WebhookState({ webhook: { disabled, failing_since } }: { webhook: Webhook }) {
  if (disabled !== null) return <Badge tone="bad">disabled</Badge>
  if (failing_since === null) return <Badge tone="good">enabled</Badge>
  return <Badge tone="warning">failing</Badge>
}

type WebhookPageProps = {
  webhook: Webhook
  deliveries: WebhookDelivery[]
  next: string | null
  failure: FormFailure | null
  secret?: string
}

/** One webhook: what can be done with it, and its deliveries. */
function WebhookPage({ webhook, deliveries, next, failure, secret }: WebhookPageProps) {
  const { id, url, description, types, disabled, failing_since } = webhook
  const action = `/settings/webhooks/${id}`
  return (
    <SettingsFrame>
      {secret !== undefined && <Secret secret={secret} />}
      <section aria-labelledby="webhook">
        <h2 id="webhook" class="webhook-url">
          {url}
        </h2>
        <p class="report-facts">
          <WebhookState webhook={webhook} />
          {description !== '' && <span>{description}</span>}
          <span>{types === null ? 'All event types' : types.join(', ')}</span>
        </p>
        {disabled !== null && <Notice kind="failure">{disabled.reason}</Notice>}
        {disabled === null && failing_since !== null && (
          <Notice kind="warning">
            No delivery has succeeded since <Time at={failing_since} />. It is disabled after three days.
          </Notice>
        )}
        <Form action={action} failure={failure} look="inline" label="Webhook">
          {disabled === null && (
            <Button name="act" value="test">
              Send test message
            </Button>
          )}
          <Button name="act" value="rotate">
            Rotate secret
          </Button>
          <Button name="act" value={disabled === null ? 'disable' : 'enable'}>
            {disabled === null ? 'Disable' : 'Enable'}
          </Button>
          <Button look="danger" name="act" value="delete">
            Delete
          </Button>
        </Form>
      </section>
      <section aria-labelledby="deliveries">
        <h2 id="deliveries">Deliveries</h2>
        {deliveries.length === 0 ? (
          <EmptyState title="No deliveries yet">
            <p>Messages appear here with the response of your server.</p>
          </EmptyState>
        ) : (
          <DeliveryTable deliveries={deliveries} action={`${action}/resend`} enabled={disabled === null} />
        )}
        {next !== null && <a href={`${action}?${new URLSearchParams({ cursor: next })}`}>Older</a>}
      </section>
    </SettingsFrame>
  )
}

type DeliveryTableProps = { deliveries: WebhookDelivery[]; action: string; enabled: boolean }

function DeliveryTable({ deliveries, action, enabled }: DeliveryTableProps) {
  return (
    <Table
      caption="Deliveries, newest first"
      rows={deliveries}
      columns={[
        {
          title: 'Message',
          heading: true,
          cell: ({ type, message_id }) => (
            <span class="run-name">
              <code>{type}</code>
              <span class="run-name-id">{message_id}</span>
            </span>
          ),
        },
        {
          title: 'State',
          cell: ({ state }) => (
            <Badge tone={state === 'delivered' ? 'good' : state === 'failed' ? 'bad' : 'plain'}>{state}</Badge>
          ),
        },
        { title: 'Last response', cell: ({ attempts }) => lastResponse(attempts) },
        { title: 'Attempts', numeric: true, cell: ({ attempts }) => attempts.length, wide: true },
        { title: 'Created', cell: ({ created_at }) => <Time at={created_at} />, wide: true },
        {
          title: 'Action',
          cell: ({ id, type }) =>
            enabled && (
              <Form action={action} look="inline" label={`Resend ${type}, ${id.slice(0, 8)}`}>
                <Button size="small" name="delivery" value={id}>
                  Resend
                </Button>
              </Form>
            ),
        },
      ]}
    />
  )
}

function lastResponse(attempts: WebhookDelivery['attempts']): string {
  const last = attempts.at(-1)
  if (last === undefined) return '–'
  const took = last.duration_ms < 1_000 ? `${last.duration_ms} ms` : `${(last.duration_ms / 1_000).toFixed(1)} s`
  return `${[last.status ?? '', last.error ?? ''].filter((part) => part !== '').join(' · ')} (${took})`
}
